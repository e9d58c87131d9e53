import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { SaxParser } from '@cj-tech-master/excelts/xml';
import { formatInstant } from '../../../lib/time/clock.ts';
import {
  MAX_BYTES,
  MAX_CELLS,
  collectRows,
  sheetTooLarge,
  unreadableSheet,
  type RowCollector,
  type Sheet,
} from './sheet-table.ts';

/**
 * Reads the first sheet of a workbook, cell after cell as they stand in the file: what it only claims to have, by merged cells, styles
 * or its size, costs nothing.
 *
 * @throws {UsageError} `usage.sheet` for a workbook that is too large.
 */
export async function readWorkbook(bytes: Uint8Array): Promise<Sheet> {
  const parts = await readZipParts(bytes);
  const { sheet, name, is1904 } = await readIndex(parts);
  const formats = { strings: await readStrings(parts), isDate: await readDateStyles(parts), is1904 };
  const rows = collectRows();
  await readSheetRows(sheet, formats, rows);
  return { ...rows.toSheet('.'), name };
}

type Part = AsyncIterable<Uint8Array> | null;
type Parts = (path: string) => Promise<Part>;

const STORED = 0;
const DEFLATED = 8;

/** The parts of a zip archive by their paths, unpacked as they are read, within one bound for all. */
async function readZipParts(bytes: Uint8Array): Promise<Parts> {
  const { BufferReader, RemoteZipReader } = await import('@cj-tech-master/excelts/archive'); // 0.1 s that only a workbook is worth.
  const zip = await RemoteZipReader.fromReader(new BufferReader(bytes));
  const unpacked = { bytes: 0 };
  return async (path) => {
    const entry = await zip.getRawEntry(path);
    if (entry === null) return null;
    const method = entry.entry.compressionMethod;
    if (method !== STORED && method !== DEFLATED) throw new Error('its zip archive is of an unknown form');
    const source = Readable.from([entry.compressedData]);
    return bounded(method === STORED ? source : source.pipe(createInflateRaw()), unpacked);
  };
}

async function* bounded(source: AsyncIterable<Uint8Array>, unpacked: { bytes: number }) {
  for await (const chunk of source) {
    unpacked.bytes += chunk.length;
    if (unpacked.bytes > MAX_BYTES) throw sheetTooLarge(`${MAX_BYTES} bytes once it is unpacked`);
    yield chunk;
  }
}

interface XmlReader {
  readonly open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

const MAX_ELEMENT = 1024 * 1024;
const ignore = (): void => undefined;

/** Reads XML by its elements, whose names come without the prefix of a namespace. */
async function readXml(part: Part, reader: XmlReader): Promise<void> {
  const { open, text = ignore, close = ignore } = reader;
  if (part === null) return;
  const parser = new SaxParser({ position: false, invalidCharHandling: 'skip', maxEntityExpansions: 0 });
  let size = 0; // Of the element that is read: the parser keeps all of it, with its attributes.
  const nameOf = ({ name }: { readonly name: string }): string => name.slice(name.indexOf(':') + 1);
  parser.on('opentag', (tag) => {
    size = 0;
    open(nameOf(tag), tag.attributes);
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', (tag) => {
    close(nameOf(tag));
  });
  const decoder = new TextDecoder();
  for await (const chunk of part) {
    size += chunk.length;
    if (size > MAX_ELEMENT) throw sheetTooLarge(`${MAX_ELEMENT} bytes in one element`);
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  parser.close();
}

/** Where the first sheet is, and whether its days count from 1904. */
async function readIndex(parts: Parts) {
  const sheets: { readonly id: string | undefined; readonly name: string }[] = [];
  let is1904 = false;
  await readXml(await parts('xl/workbook.xml'), {
    open: (name, attributes) => {
      const id = Object.entries(attributes).find(([key]) => /:id$/.test(key))?.[1];
      if (name === 'sheet') sheets.push({ id, name: attributes['name'] ?? '' });
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
    },
  });
  const targets = new Map<string | undefined, string>();
  await readXml(await parts('xl/_rels/workbook.xml.rels'), {
    open: (_, { Id, Target = '' }) => targets.set(Id, new URL(Target, 'file:///xl/').pathname.slice(1)),
  });
  const { id, name = '' } = sheets[0] ?? {};
  const sheet = await parts(targets.get(id) ?? '');
  if (sheet === null) throw unreadableSheet('The workbook has no sheet.');
  return { sheet, name, is1904 };
}

async function readStrings(parts: Parts): Promise<readonly string[]> {
  const strings: string[] = [];
  let text = '';
  let isText = false;
  let isPronunciation = false; // How a text in Japanese is pronounced stands beside it.
  await readXml(await parts('xl/sharedStrings.xml'), {
    open: (name) => {
      if (name === 'si') text = '';
      if (name === 'rPh') isPronunciation = true;
      isText = name === 't' && !isPronunciation;
    },
    text: (more) => {
      if (isText) text += more;
    },
    close: (name) => {
      if (name === 'si' && strings.push(unescaped(text)) > MAX_CELLS)
        throw sheetTooLarge(`${MAX_CELLS} texts`);
      if (name === 'rPh') isPronunciation = false;
      isText = false;
    },
  });
  return strings;
}

/** A workbook writes control characters as `_x0007_`. */
const unescaped = (text: string): string =>
  text.replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

const isDateFormat = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

/** Returns whether a style shows numbers as dates or times. */
async function readDateStyles(parts: Parts): Promise<(style: number) => boolean> {
  const custom = new Map<number, boolean>();
  const styles: boolean[] = [];
  let isInCells = false;
  await readXml(await parts('xl/styles.xml'), {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      const id = Number(numFmtId);
      if (name === 'numFmt') custom.set(id, isDateCode(formatCode));
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells) styles.push(custom.get(id) ?? isDateFormat(id));
    },
    close: (name) => {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return (style) => styles[style] ?? false;
}

const isDateCode = (code: string): boolean => {
  const [first = ''] = code.replace(/"[^"]*"|\[[^[\]]*\]|\\./g, '').split(';');
  return /d|m|y|h|s/i.test(first) && !/[@0#]/.test(first.replace(/s\.0+/i, ''));
};

interface CellFormats {
  readonly strings: readonly string[];
  readonly isDate: (style: number) => boolean;
  readonly is1904: boolean;
}

interface OpenCell {
  readonly index: number;
  readonly attributes: Readonly<Record<string, string>>;
  isFormula: boolean;
  value: string;
}

async function readSheetRows(part: Part, formats: CellFormats, rows: RowCollector): Promise<void> {
  let position = 0;
  let nextIndex = 0;
  let cell: OpenCell | null = null;
  let element = '';
  await readXml(part, {
    open: (name, attributes) => {
      element = name;
      if (name === 'row') {
        position = nextPosition(position, attributes['r']);
        nextIndex = 0;
      } else if (name === 'c') {
        const index = columnIn(attributes['r']) ?? nextIndex;
        cell = { index, attributes, isFormula: false, value: '' };
        nextIndex = index + 1;
      } else if (name === 'f' && cell !== null) cell.isFormula = true;
      else if (name === 'rPh') cell = null;
    },
    text: (text) => {
      if (cell !== null && (element === 'v' || element === 't')) cell.value += text;
    },
    close: (name) => {
      element = '';
      if (name === 'c' && cell !== null) {
        rows.addCell(cell.index, textOf(cell, formats), cell.isFormula);
        cell = null;
      } else if (name === 'row') rows.endRow(position);
    },
  });
}

const LAST_ROW = 1_048_576;

function nextPosition(last: number, named: string | undefined): number {
  const position = Number(named ?? last + 1);
  if (Number.isInteger(position) && position > last && position <= LAST_ROW) return position;
  throw new Error('its rows are not numbered in their order');
}

/** The place of the column in `AB12`. */
function columnIn(place: string | undefined): number | null {
  const [letters] = /^[A-Z]{1,3}/.exec(place ?? '') ?? [];
  if (letters === undefined) return null;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const LONGEST_NUMBER = 400;

function textOf(cell: OpenCell, formats: CellFormats): string {
  const { attributes, value } = cell;
  const { t: type = 'n', s: style = '0' } = attributes;
  const text = type === 's' ? (formats.strings[Number(value)] ?? '') : value;
  if (type === 'n') return numberText(text, formats.isDate(Number(style)), formats.is1904);
  if (type === 'b') return value === '0' ? 'false' : 'true';
  if (type === 'd') return withoutMidnight(text.replace('T', ' ').replace(/Z$/, ''));
  return type === 'inlineStr' ? unescaped(text) : text;
}

function numberText(text: string, isDate: boolean, is1904: boolean): string {
  if (text === '' || text.length > LONGEST_NUMBER) return text;
  return isDate ? instantIn(Number(text), is1904) : String(Number(text));
}

/** Day zero of a workbook: a time of day is an instant of it. */
const DAY_ZERO = /^(?:1899-12-3\d|1904-01-01) /;
const DAY_MS = 86_400_000;
const FIRST_DAY = 25_569;
const DAYS_TO_1904 = 1_462;

function instantIn(days: number, is1904: boolean): string {
  const date = new Date(Math.round((days - FIRST_DAY + (is1904 ? DAYS_TO_1904 : 0)) * DAY_MS));
  if (Number.isNaN(date.getTime())) return String(days);
  const text = formatInstant(date).replace(/\.000$/, '');
  return DAY_ZERO.test(text) ? text.replace(DAY_ZERO, '') : withoutMidnight(text);
}

const withoutMidnight = (text: string): string => text.replace(/ 00:00:00$/, '');
