// Draws the application's icon: a page with three lines on a coloured square, as PNG and as SVG.
import { deflateSync } from "node:zlib";

const GROUND = [0x1f, 0x5f, 0xd0];
const PAPER = [0xff, 0xff, 0xff];
const INK = [0x9d, 0xbd, 0xf2];
const SAMPLES = 4;

export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
<rect width="100" height="100" rx="22" fill="#1f5fd0"/>
<rect x="27" y="20" width="46" height="60" rx="6" fill="#fff"/>
<g fill="#9dbdf2"><rect x="36" y="33" width="28" height="5" rx="2.5"/>
<rect x="36" y="46" width="28" height="5" rx="2.5"/><rect x="36" y="59" width="17" height="5" rx="2.5"/></g>
</svg>
`;

// [x, y, width, height, radius, colour] on a square of 100.
const shapes = (corner) => [
  [0, 0, 100, 100, corner, GROUND],
  [27, 20, 46, 60, 6, PAPER],
  [36, 33, 28, 5, 2.5, INK],
  [36, 46, 28, 5, 2.5, INK],
  [36, 59, 17, 5, 2.5, INK],
];

function isInside([left, top, width, height, radius], x, y) {
  const dx = Math.max(left + radius - x, 0, x - (left + width - radius));
  const dy = Math.max(top + radius - y, 0, y - (top + height - radius));
  const isIn = x >= left && x <= left + width && y >= top && y <= top + height;
  return isIn && dx * dx + dy * dy <= radius * radius + 1e-9;
}

/** Returns the icon as PNG bytes; a maskable one has no round corners and keeps to the safe zone. */
export function png(size, isMaskable = false) {
  const drawn = shapes(isMaskable ? 0 : 22);
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const sum = [0, 0, 0, 0];
      for (let sample = 0; sample < SAMPLES * SAMPLES; sample += 1) {
        const x = ((column + ((sample % SAMPLES) + 0.5) / SAMPLES) * 100) / size;
        const y = ((row + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES) * 100) / size;
        const shape = drawn.findLast((one) => isInside(one, x, y));
        if (!shape) continue;
        for (const channel of [0, 1, 2]) sum[channel] += shape[5][channel];
        sum[3] += 255;
      }
      const hits = sum[3] / 255;
      const at = row * (size * 4 + 1) + 1 + column * 4;
      for (const channel of [0, 1, 2])
        rows[at + channel] = hits ? Math.round(sum[channel] / hits) : 0;
      rows[at + 3] = Math.round(sum[3] / (SAMPLES * SAMPLES));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc(body), body.length + 4);
  return framed;
}

function crc(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}
