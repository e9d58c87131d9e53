import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { LANGUAGES, translatorFor, type Language, type MessageKey } from '../../lib/text/translator.ts';

interface Prompt {
  readonly title: MessageKey;
  readonly text: MessageKey;
}

const PROMPTS: Readonly<Record<string, Prompt>> = {
  'month-end': {
    title: 'Month end',
    text: 'Report on last month: bookings, revenue, invoiced and to be invoiced amounts, hours and purchases, each with figure, beside the month before. List what is unproven, and say as of when the figures are.',
  },
  'what-changed': {
    title: 'What changed',
    text: 'Summarize what changed in the last seven days: created, updated, deleted and restored records by kind (bi_changes), and the ten most important changes with their old and new values.',
  },
  'data-quality': {
    title: 'Data quality',
    text: 'Check the quality of the data: kinds that are unproven, open issues (bi_issues), clients without e-mail or phone, duplicates by name, and references to deleted records. Propose corrections, and change nothing.',
  },
};

const LANGUAGE = z.object({ language: z.enum(LANGUAGES).optional() });

/** Adds the prompts, in the language of the user or in the one that is asked for. */
export function addPrompts(server: McpServer, userLanguage: Language): void {
  for (const [name, { title, text }] of Object.entries(PROMPTS)) {
    const config = { title: translatorFor(userLanguage).t(title), argsSchema: LANGUAGE };
    server.registerPrompt(name, config, ({ language = userLanguage }) => ({
      messages: [
        { role: 'user' as const, content: { type: 'text' as const, text: translatorFor(language).t(text) } },
      ],
    }));
  }
}
