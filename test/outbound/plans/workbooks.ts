import { crc32, deflateRawSync } from 'node:zlib';

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
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(parts)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    const body = [Buffer.from('PK\x03\x04'), shared, Buffer.from(name), packed];
    entries.push(Buffer.from('PK\x01\x02\x14\x00'), shared, tail, Buffer.from(name));
    bodies.push(...body);
    at += Buffer.concat(body).length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(Object.keys(parts).length, 8);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, directory, end]);
}
