import { bodyBytes, type Draft, type Mutation } from '../draft.ts';
import type { Random } from '../../../sandbox/generate/draw.ts';

const onBytes =
  (change: (bytes: Buffer, random: Random) => Uint8Array): Mutation =>
  (draft, { random }) => ({ ...draft, bytes: change(Buffer.from(bodyBytes(draft)), random) });

const onText = (change: (text: string, random: Random) => string): Mutation =>
  onBytes((bytes, random) => Buffer.from(change(bytes.toString(), random)));

const place = (bytes: Uint8Array, random: Random): number => random.integer(0, Math.max(0, bytes.length - 1));

function inserted(bytes: Buffer, at: number, more: readonly number[]): Buffer {
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(more), bytes.subarray(at)]);
}

const NOT_UTF8 = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xfe, 0xff],
];

/** What becomes of a body on its way, whatever it says. */
export const BYTE_MUTATIONS: Readonly<Record<string, Mutation>> = {
  truncated: onBytes((bytes, random) => bytes.subarray(0, place(bytes, random))),
  'beginning lost': onBytes((bytes, random) => bytes.subarray(random.integer(1, 40))),
  'a range lost': onBytes((bytes, random) => {
    const at = place(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.integer(1, 60))]);
  }),
  'a range twice': onBytes((bytes, random) => {
    const at = place(bytes, random);
    return inserted(bytes, at, [...bytes.subarray(at, at + random.integer(1, 60))]);
  }),
  'bytes flipped': onBytes((bytes, random) => {
    for (let left = random.integer(1, 4); left > 0 && bytes.length > 0; left--)
      bytes[place(bytes, random)] = random.integer(0, 255);
    return bytes;
  }),
  'a bit flipped': onBytes((bytes, random) => {
    const at = place(bytes, random);
    if (bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(0, 7));
    return bytes;
  }),
  'bytes inserted': onBytes((bytes, random) =>
    inserted(
      bytes,
      place(bytes, random),
      Array.from({ length: random.integer(1, 6) }, () => random.integer(0, 255)),
    ),
  ),
  'a digit changed': onText((text, random) => {
    const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
    if (digits.length === 0) return text;
    const at = random.pick(digits);
    return (
      text.slice(0, at) +
      random.pick(['0', '7', '-', '.', 'e5', '00', '99999999999999999999']) +
      text.slice(at + 1)
    );
  }),
  'a mark changed': onText((text, random) => {
    const marks = [...text.matchAll(/[[\]{}",:]/g)].map(({ index }) => index);
    if (marks.length === 0) return text;
    const at = random.pick(marks);
    return (
      text.slice(0, at) + random.pick(['[', ']', '{', '}', '"', ',', ':', '', ' ', "'"]) + text.slice(at + 1)
    );
  }),
  'no UTF-8': onBytes((bytes, random) => inserted(bytes, place(bytes, random), random.pick(NOT_UTF8))),
  'byte order mark': onBytes((bytes) => inserted(bytes, 0, [0xef, 0xbb, 0xbf])),
  'byte order mark twice': onBytes((bytes) => inserted(bytes, 0, [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf])),
  'UTF-16': onBytes((bytes, random) =>
    Buffer.from((random.chance(0.5) ? '\ufeff' : '') + bytes.toString(), 'utf16le'),
  ),
  'Latin-1': onBytes((bytes) => Buffer.from(bytes.toString(), 'latin1')),
  'NUL bytes': onBytes((bytes, random) =>
    inserted(bytes, random.pick([0, bytes.length, place(bytes, random)]), [0, 0]),
  ),
  'only NUL': onBytes((bytes) => Buffer.alloc(bytes.length)),
  'something behind': onText(
    (text, random) => text + random.pick([']', '}', '<!-- 12 ms -->', '\n0', text, ',{}', '\u0000', ';']),
  ),
  'something before': onText(
    (text, random) =>
      random.pick([")]}',\n", 'while(1);', 'callback(', '[', '/* */', '1', '\u00a0', 'data: ']) + text,
  ),
  'words that are no JSON': onText((text, random) =>
    text.replace(
      /null|true|\d+/,
      random.pick(
        // prettier-ignore
        [
          'NaN', 'Infinity', '-Infinity', 'undefined', 'None', 'True', '0x10', '+1', '01', '.5', '1.',
          '1_000',
        ],
      ),
    ),
  ),
  'commas and comments': onText((text, random) =>
    text.replace(/\}/, random.pick([',}', '/* x */}', '//x\n}', ',,}', ';}'])),
  ),
  'single quotes': onText((text) => text.replaceAll('"', "'")),
  'white space everywhere': onText((text) => text.replaceAll(/([[{,])(?=["{])/g, '$1 \r\n\t')),
  'control characters in text': onText((text, random) =>
    text.replace(/":"/, `":"${random.pick(['\n', '\t', '\u0001', '\u001f'])}`),
  ),
};

/** Some byte mutation on top of what was done to the draft already. */
export function alsoBytes(draft: Draft, scene: Parameters<Mutation>[1]): Draft {
  return (BYTE_MUTATIONS[scene.random.pick(Object.keys(BYTE_MUTATIONS))] ?? ((same: Draft) => same))(
    draft,
    scene,
  );
}
