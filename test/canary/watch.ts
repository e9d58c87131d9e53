import { OVERLAP, holds, type Search } from './spellings.ts';

/** Where a secret may come to light. */
// prettier-ignore
export const PLACES = [
  'output of commands in the tests', 'output of other programs', 'output of the tests themselves',
  'log lines', 'SQLite files', 'SQLite write-ahead logs', 'other files', 'PostgreSQL tables',
  'log of PostgreSQL', 'Redis commands', 'HTTP answers', 'metrics', 'HTTP answers of other processes',
  'errors',
] as const;
export type Place = (typeof PLACES)[number];

/** How much was looked at in one place, and how long that took. */
export interface Looked {
  count: number;
  bytes: number;
  ms: number;
}
export type Tally = Record<Place, Looked>;

export interface Sight extends Search {
  readonly place: Place;
  /** Names the very thing, for who has to find the leak. */
  readonly what: () => string;
}

export interface Watch {
  /** Looks at one whole thing. */
  look(sight: Sight, content: string | Buffer): void;
  /** Looks at a thing that comes in pieces, and returns whether it contains a secret; one may lie across two of them. */
  inPieces(sight: Sight): (piece: Buffer) => boolean;
  /** Notes a leak that was found otherwise. */
  note(sight: Sight): void;
  /** Counts something that was looked at as a part of something else. */
  count(place: Place, count?: number): void;
  /** What has leaked since it was asked last: places, never the secrets themselves. */
  drainLeaks(): string[];
  readonly tally: Tally;
  /** What was looked at since it was asked last. */
  readTally(): Tally;
}

export function emptyTally(): Tally {
  return Object.fromEntries(PLACES.map((place) => [place, { count: 0, bytes: 0, ms: 0 }])) as Tally;
}

export function createWatch(): Watch {
  const tally = emptyTally();
  const leaks = new Set<string>();
  const note = ({ place, what }: Sight): void => {
    leaks.add(`${place}: ${nameOf(what())}`);
  };
  const scan = (sight: Sight, bytes: Buffer): boolean => {
    const from = performance.now();
    const isFound = holds(bytes, sight);
    if (isFound) note(sight);
    tally[sight.place].ms += performance.now() - from;
    return isFound;
  };
  return {
    tally,
    readTally: () => {
      const taken = structuredClone(tally);
      Object.assign(tally, emptyTally());
      return taken;
    },
    note,
    count: (place, count = 1) => {
      tally[place].count += count;
    },
    look: (sight, content) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      tally[sight.place].count += 1;
      tally[sight.place].bytes += bytes.length;
      scan(sight, bytes);
    },
    inPieces: (sight) => {
      let rest: Buffer = Buffer.alloc(0);
      tally[sight.place].count += 1;
      return (piece) => {
        tally[sight.place].bytes += piece.length;
        const seam = Buffer.concat([rest, piece.subarray(0, OVERLAP)]);
        const isFound = (rest.length > 0 && scan(sight, seam)) || scan(sight, piece);
        rest = isFound ? Buffer.alloc(0) : lastOf(piece.length < OVERLAP ? seam : piece); // Found once is enough.
        return isFound;
      };
    },
    drainLeaks: () => {
      const taken = [...leaks];
      leaks.clear();
      return taken;
    },
  };
}

/** A copy, since who hands the piece in may use its memory again. */
const lastOf = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(Math.max(0, bytes.length - OVERLAP)));

/** A name may hold the secret itself, as a command line does; then what is around it is left out as well. */
function nameOf(what: string): string {
  const words = what.slice(0, 300).split(/\s+/);
  return words.map((word) => (holds(Buffer.from(word)) ? '[secret]' : word)).join(' ');
}

/** The watch of this process. */
export const watch = createWatch();

/** Fails where a secret has come to light since the last call. */
export function expectNoLeaks(from: Pick<Watch, 'drainLeaks'> = watch): void {
  const leaks = from.drainLeaks();
  if (leaks.length === 0) return;
  throw new Error(
    `A secret of the tests came to light (test/canary/):\n${leaks.map((leak) => `- ${leak}`).join('\n')}`,
  );
}
