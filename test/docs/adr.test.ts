import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../docs/adr');
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
const records = readdirSync(FOLDER).filter((file) => /^\d{4}-.+\.md$/.test(file));

describe('docs/adr', () => {
  it('has an index that lists every record once, in order, with its title', () => {
    const rows = records.map((file) => {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(read(file)) ?? [];
      return `| ${number} | [${title}](${file}) |`;
    });
    expect(
      read('README.md')
        .split('\n')
        .filter((line) => /^\| \d/.test(line)),
    ).toEqual(rows);
  });

  it.each(records)('%s has the number of its file and the four sections', (file) => {
    const text = read(file);
    expect(text).toMatch(new RegExp(`^# ${Number(file.slice(0, 4))}\\. `));
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'Consequences',
      'Alternatives considered',
    ]);
  });
});
