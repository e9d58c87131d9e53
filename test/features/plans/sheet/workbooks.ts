import { zip } from '@cj-tech-master/excelts/archive';

/** A workbook of one sheet whose XML is given; other parts may be given too. */
export function workbookOf(
  sheet: string | Buffer,
  parts: Readonly<Record<string, string | Buffer>> = {},
): Uint8Array {
  return zipOf({
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': sheet,
    ...parts,
  });
}

/** The XML of a sheet: its rows with what is in them, and what stands before and behind them. */
export const sheetOf = (rows: string, before = '', behind = ''): string =>
  `<worksheet>${before}<sheetData>${rows}</sheetData>${behind}</worksheet>`;

/** A row of texts; one that is null is left out. */
export const textRow = (position: number, texts: readonly (string | null)[]): string =>
  `<row r="${position}">${texts.map((text) => (text === null ? '<c/>' : `<c t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`)).join('')}</row>`;

/** A zip archive. */
export function zipOf(parts: Readonly<Record<string, string | Buffer>>): Uint8Array {
  const archive = zip();
  for (const [name, content] of Object.entries(parts)) archive.add(name, content);
  return archive.bytesSync();
}
