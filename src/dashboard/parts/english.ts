import { html, type Html, type Part } from '../../http/html.ts';
import type { Translator, MessageKey } from '../../lib/text/translator.ts';
import { translateReason } from '../../words/stored-reasons.ts';

/** A text in English that may have a French one; without it, it is marked as English. Steps of the command line become those of pages. */
export function markEnglish(translator: Translator, english: string): Part {
  const { language } = translator;
  const translated = translateReason(english, translator);
  const parts = pageSteps(translator, translated);
  return language === 'en' || translated !== english ? parts : html`<span lang="en">${parts}</span>`;
}

/** A text with the steps of pages in place of those of the command line. */
export const pageSteps = (translator: Translator, text: string): readonly Part[] =>
  text.split(STEP).map((part, at) => (at % 2 === 0 ? part : pageStep(translator, part)));

/** An option, or a command: after a colon to the end of its clause. */
const STEP =
  /(--[a-z-]+(?: [A-Z]+)?|(?<=: |, or |then )bms-sync (?:"[^"]*"|[^",;.)])+|bms-sync (?:outbox|webhooks)\b(?: list\b| [a-z]+ \d+)?)/;

/** The fields of forms by options, and the pages by commands: a number or a kind ends the address. */
const PAGE_STEPS: readonly (readonly [step: RegExp, words: MessageKey, address: string])[] = [
  [/^--kind/, 'Kind', '/plans'],
  [/^--match/, 'Find records by', '/plans'],
  [/^--create/, 'create records from rows without an id or a match', '/plans'],
  [/^--allow-reordered/, 'accept a column whose values only changed places', '/plans'],
  [/ (?:plan|approve|apply|reject|withdraw|undo) (\d+)/, 'Plan {id}', '/plans/'],
  [/ plan/, 'Corrections', '/plans'],
  [/ outbox [a-z]+ (\d+)/, 'Entry {id}', '/outbox/'],
  [/ outbox/, 'Outbox', '/outbox'],
  [/ deletions/, 'Deletions', '/deletions'],
  [/ webhooks/, 'Webhooks', '/webhooks'],
  [/ users/, 'Users', '/users'],
  [/ pull (\w+)/, 'Pull now', '/kinds/'],
];

function pageStep({ t, language }: Translator, step: string): Html {
  for (const [pattern, words, address] of PAGE_STEPS) {
    const [found, id = ''] = pattern.exec(step) ?? [];
    if (found) return html`<a lang="${language}" href="${address}${id}">${t(words, { id })}</a>`;
  }
  return html`<code>${step}</code>`;
}
