import { html, type Html } from '../../../http/html.ts';
import { linkTo, type Query } from '../../../dashboard/parts/paging.ts';
import type { Reader } from '../../../dashboard/parts/reader.ts';

/**
 * Links to a kind or a view as a file. CSV has the form that spreadsheets expect in the reader's language.
 * @param filters Of the page that shows the same rows.
 */
export function exportLinks(reader: Reader, name: string, filters: Query = {}): Html {
  const link = (format: string, words: string): Html =>
    html`<a href="${linkTo(`/v1/export/${name}`, { format, ...filters })}" download>${words}</a>`;
  return html`${link('xlsx', reader.t('Workbook'))} ·
  ${link(reader.language === 'fr' ? 'excel' : 'csv', reader.t('CSV'))}`;
}
