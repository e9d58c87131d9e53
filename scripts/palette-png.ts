import { crc32, deflateSync } from 'node:zlib';

/** Writes pixels (red, green, blue, alpha, a byte each) as a PNG of at most 256 colours: a third of the size of one with all. */
export function palettePng(pixels: Uint8Array, width: number, height: number): Buffer {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts.keys()]
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
    .slice(0, 256);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const lines = Buffer.alloc((width + 1) * height); // Each line begins with its filter: none.
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const colour = colourAt(pixels, (y * width + x) * 4);
      const place = places.get(colour) ?? nearest(palette, colour);
      places.set(colour, place);
      lines[y * (width + 1) + 1 + x] = place;
    }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8); // Eight bits a pixel, by palette.
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const colourAt = (pixels: Uint8Array, at: number): number =>
  ((pixels[at] ?? 0) << 16) | ((pixels[at + 1] ?? 0) << 8) | (pixels[at + 2] ?? 0);

const channels = (colour: number): number[] => [colour >> 16, (colour >> 8) & 255, colour & 255];

function nearest(palette: readonly number[], colour: number): number {
  const wanted = channels(colour);
  const distances = palette.map((known) =>
    channels(known).reduce((sum, value, index) => sum + (value - (wanted[index] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
