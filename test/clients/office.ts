import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';

/** A cell as LibreOffice took it: `float`, `date`, `time` or `string`; null for an empty one. */
export interface Cell {
  readonly type: string;
  /** The number, the date or the time itself; of a text, what it shows. */
  readonly value: string;
}

export interface Opened {
  readonly formulas: number;
  /** By name, the rows that hold something. */
  readonly sheets: ReadonlyMap<string, readonly (readonly (Cell | null)[])[]>;
}

/** Separated by `;`, with `"`, in UTF-8, from line 1, in the language 0x0C0C (fr-CA), with dates and amounts found. */
const FRENCH_CSV = 'CSV:59,34,76,1,,3084,false,true';

/** Opens a spreadsheet in LibreOffice, a CSV file as one in French Canada does. */
export async function openInOffice(path: string): Promise<Opened> {
  const xml = readFileSync(await convert(path, 'fods'), 'utf8');
  const tables = xml.matchAll(/<table:table table:name="([^"]*)".*?<\/table:table>/gs);
  return {
    formulas: xml.split('table:formula=').length - 1,
    sheets: new Map(Array.from(tables, ([table, name = '']) => [name, rowsOf(table)])),
  };
}

/** Opens a spreadsheet in LibreOffice and saves it in its own format, cells of CSV as they are shown; the path of the new file. */
export const saveInOffice = (path: string, form = FRENCH_CSV): Promise<string> =>
  convert(path, extname(path) === '.csv' ? `csv:Text - txt - csv (StarCalc):${form.slice(4)}` : 'xlsx', form);

/** CSV of a country, by the number of its language and the sign between its cells. */
export const csvOf = (language: number, separator: string): string =>
  `CSV:${separator.charCodeAt(0)},34,76,1,,${language},false,true`;

/** What a person types: texts into the first cells below the name of a column. LibreOffice runs it as a macro. */
const TYPE = `Sub Edit(path, out, name, texts)
  Dim hidden(0) As New com.sun.star.beans.PropertyValue
  hidden(0).Name = "Hidden" : hidden(0).Value = True
  document = StarDesktop.loadComponentFromURL(ConvertToURL(path), "_blank", 0, hidden())
  sheet = document.Sheets.getByIndex(0)
  column = 0
  While sheet.getCellByPosition(column, 0).String &lt;&gt; name
    column = column + 1
  Wend
  values = Split(texts, "|")
  For row = 0 To UBound(values)
    sheet.getCellByPosition(column, row + 1).String = values(row)
  Next
  Dim format(0) As New com.sun.star.beans.PropertyValue
  format(0).Name = "FilterName" : format(0).Value = "Calc MS Excel 2007 XML"
  document.storeToURL(ConvertToURL(out), format())
  document.close(True)
End Sub`;

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const LIBRARY = 'xmlns:library="http://openoffice.org/2000/library" library:name="Standard"';
const MODULE =
  'xmlns:script="http://openoffice.org/2000/script" script:name="Typing" script:language="StarBasic"';

/** Opens a workbook in LibreOffice, types texts into a column from its second row on, and saves it; the path of the new file. */
export async function typeInOffice(path: string, column: string, texts: readonly string[]): Promise<string> {
  const office = join(dirname(path), 'office');
  const profile = `-env:UserInstallation=file://${office}`;
  await promisify(execFile)('soffice', [profile, '--headless', '--terminate_after_init']); // It makes the library.
  const folder = join(office, 'user/basic/Standard');
  const index = `${XML}<library:library ${LIBRARY}><library:element library:name="Typing"/></library:library>`;
  writeFileSync(join(folder, 'script.xlb'), index);
  writeFileSync(join(folder, 'Typing.xba'), `${XML}<script:module ${MODULE}>${TYPE}</script:module>`);
  const out = path.replace(/\.xlsx$/, '-typed.xlsx');
  const call = `macro:///Standard.Typing.Edit(${[path, out, column, texts.join('|')].map((text) => `"${text}"`).join(',')})`;
  await promisify(execFile)('soffice', [profile, '--headless', call]);
  return out;
}

async function convert(path: string, format: string, form = FRENCH_CSV): Promise<string> {
  const folder = dirname(path);
  const csv = extname(path) === '.csv' ? [`--infilter=${form}`] : [];
  const profile = `-env:UserInstallation=file://${join(folder, 'office')}`;
  const opened = join(folder, 'opened');
  const argv = [profile, '--headless', ...csv, '--convert-to', format, '--outdir', opened, path];
  await promisify(execFile)('soffice', argv);
  return join(opened, `${basename(path, extname(path))}.${format.split(':')[0] ?? ''}`);
}

function rowsOf(table: string): readonly (readonly (Cell | null)[])[] {
  const rows = table.matchAll(/<table:table-row\b[^>]*>(.*?)<\/table:table-row>/gs);
  const cells = Array.from(rows, ([, row = '']) => cellsOf(row));
  return cells.filter((row) => row.some((cell) => cell !== null));
}

function cellsOf(row: string): readonly (Cell | null)[] {
  const cells = row.matchAll(/<table:table-cell\b([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs);
  return Array.from(cells, ([, attributes = '', content = '']): (Cell | null)[] => {
    const of = (name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1];
    const type = of('office:value-type');
    const value = of('office:(?:date-|time-)?value') ?? textOf(content);
    const times = Math.min(Number(of('table:number-columns-repeated') ?? 1), 500);
    return Array.from({ length: times }, () => (type === undefined ? null : { type, value }));
  }).flat();
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#10': '\n',
};

const textOf = (content: string): string =>
  content
    .replaceAll(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count?: string) => ' '.repeat(Number(count ?? 1)))
    .replaceAll('<text:tab/>', '\t')
    .replaceAll(/<\/text:p>\s*<text:p>/g, '\n')
    .replaceAll(/\s*<[^>]*>\s*/g, '')
    .replaceAll(/&([#\w]+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
