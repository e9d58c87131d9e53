import type { Config } from '../config/settings.ts';
import type { SendingRules } from '../feed/webhooks/sender.ts';

/** The settings of what is sent to receivers. */
export const sendingRules = ({ webhooks, mail, server, language, schedules }: Config): SendingRules => ({
  allowHosts: webhooks.allowHosts,
  mail,
  publicUrl: server.publicUrl,
  timezone: schedules.timezone,
  language,
});
