import { html, type Html } from '../../../http/html.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';

/** Links to a kind or a view as a file. CSV has the form that spreadsheets expect in the reader's language. */
export function exportLinks(reader: Reader, name: string): Html {
  const link = (format: string, words: string): Html =>
    html`<a href="/v1/export/${name}?format=${format}" download>${words}</a>`;
  return html`${link('xlsx', reader.t('Workbook'))} ·
  ${link(reader.language === 'fr' ? 'excel' : 'csv', reader.t('CSV'))}`;
}
