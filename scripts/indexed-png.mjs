/* global createImageBitmap, OffscreenCanvas -- in the browser */
import { deflateSync } from 'node:zlib';

const CRC = Int32Array.from({ length: 256 }, (_, at) => {
  let value = at;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc(bytes) {
  let value = -1;
  for (const byte of bytes) value = (value >>> 8) ^ CRC[(value ^ byte) & 255];
  return (value ^ -1) >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** The most frequent colours, and for each colour that there is the nearest of them. */
function paletteOf(pixels, size) {
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, size)
    .map(([colour]) => colour);
  const parts = (colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  const known = palette.map(parts);
  const index = new Map();
  for (const colour of counts.keys()) {
    const [red, green, blue] = parts(colour);
    let best = 0;
    let least = Infinity;
    for (const [at, [r, g, b]] of known.entries()) {
      const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
      if (distance < least) [best, least] = [at, distance];
    }
    index.set(colour, best);
  }
  return { known, index };
}

/**
 * A screenshot with at most 64 colours, which takes a third of the bytes.
 *
 * @param {import('playwright-core').Page} page an empty page, which reads the picture
 * @param {Buffer} png
 */
export async function indexedPng(page, png) {
  const { width, height, base64 } = await page.evaluate(async (source) => {
    const bytes = await (await fetch(`data:image/png;base64,${source}`)).blob();
    const bitmap = await createImageBitmap(bytes);
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    let text = '';
    for (let at = 0; at < data.length; at += 32_768)
      text += String.fromCharCode(...data.subarray(at, at + 32_768));
    return { width: bitmap.width, height: bitmap.height, base64: btoa(text) };
  }, png.toString('base64'));
  const raw = Buffer.from(base64, 'base64');
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at++) pixels[at] = raw.readUInt32LE(at * 4) & 0xffffff;
  const { known, index } = paletteOf(pixels, 64);
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at++) rows[at + Math.floor(at / width) + 1] = index.get(pixels[at]);
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(known.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
  ];
  return Buffer.concat([signature, ...parts, chunk('IEND', Buffer.alloc(0))]);
}
