import type { Config } from '../config/settings.ts';
import { MESSAGES } from '../feature-hooks.ts';
import type { SendingRules } from '../events/webhooks/sender.ts';

/** The settings of what is sent to receivers. */
export const sendingRules = (config: Config): SendingRules => ({
  allowHosts: config.webhooks.allowHosts,
  mail: config.mail,
  messages: MESSAGES,
  publicUrl: config.server.publicUrl,
  timezone: config.schedules.timezone,
  language: config.language,
});
