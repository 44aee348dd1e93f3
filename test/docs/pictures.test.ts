import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = 'docs/images/studio';
/** https://www.w3.org/TR/png-3/#5PNG-file-signature */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_BYTES = 200_000;

test('the pictures of Studio are those that the pages show, as small PNG files', () => {
  const shown = ['README.md', 'docs/studio.md'].flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/!\[([^\]]*)\]\(([^)\s]+\.png)\)/g)].map(
      ([, words, path = '']) => {
        expect([path, words === '']).toEqual([path, false]);
        return normalize(join(dirname(page), path));
      },
    ),
  );
  expect([...new Set(shown)].toSorted()).toEqual(
    readdirSync(FOLDER)
      .map((name) => `${FOLDER}/${name}`)
      .toSorted(),
  );
  for (const path of shown) {
    const bytes = readFileSync(path);
    expect([path, bytes.subarray(0, PNG.length).equals(PNG), bytes.length < MAX_BYTES]).toEqual([
      path,
      true,
      true,
    ]);
  }
});
