import type { GitHubStandIn } from '../test/support/github/stand-in.ts';

export const REPO = 'octo/shop';

/** The check that `main` requires, so that GitHub's own merge button obeys Countersign. */
export const GATE = 'countersign: main';

/** The people of the demo. */
export const PEOPLE = {
  maintainer: 'mia',
  writer: 'will',
  author: 'ada',
  outsider: 'otto',
} as const;

/** A small shop with enough real code to review. */
export const SHOP = {
  'README.md': '# Shop\n\nSells things.\n',
  'src/cart.ts': [
    'export interface Line {',
    '  price: number;',
    '  count: number;',
    '}',
    '',
    'export function total(lines: readonly Line[]): number {',
    '  return lines.reduce((sum, line) => sum + line.price * line.count, 0);',
    '}',
    '',
  ].join('\n'),
  'src/orders.ts': [
    "import type { Database } from './database.ts';",
    '',
    'export async function orderById(db: Database, id: number) {',
    "  return db.query('select * from orders where id = $1', [id]);",
    '}',
    '',
  ].join('\n'),
  '.github/workflows/ci.yml': [
    'name: ci',
    'on: [pull_request]',
    'permissions:',
    '  contents: read',
    'jobs:',
    '  test:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '      - run: npm test',
    '',
  ].join('\n'),
};

/** GitHub with the shop in it. */
export function seed(github: GitHubStandIn): void {
  github.addOrganization('octo');
  for (const login of Object.values(PEOPLE)) github.addUser(login);
  github.addRepository({
    owner: 'octo',
    name: 'shop',
    files: SHOP,
    collaborators: { mia: 'maintain', will: 'write', ada: 'write' },
  });
  github.installApp('octo');
  github.requireChecks(REPO, 'main', [{ context: GATE, app: github.app.slug }]);
}

/** The change of case 1, and with other names the harmless part of cases 3 and 4. */
export const CLEAN = {
  'src/discount.ts': [
    '/** The price after a discount of so many percent, never below zero. */',
    'export function discounted(price: number, percent: number): number {',
    '  return Math.max(0, price - (price * percent) / 100);',
    '}',
    '',
  ].join('\n'),
};

/** Assembled from parts, so that secret scanners do not report the demo's invented key. */
const KEY = ['AKIA', 'Z7QX', 'M3PL', 'D5RT', 'W2KV'].join('');

/** Case 2: four mistakes that must not reach the default branch, each on its own line. */
export const RISKY = {
  'src/config/config.ts': [
    'export const config = {',
    "  region: 'eu-central-1',",
    `  accessKeyId: '${KEY}',`,
    '};',
    '',
  ].join('\n'),
  'src/search.ts': [
    "import type { Database } from './database.ts';",
    '',
    'export async function search(db: Database, name: string) {',
    '  try {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the code under review
    "    return await db.query(`select * from products where name = '${name}'`);",
    '  } catch {}',
    '  return [];',
    '}',
    '',
  ].join('\n'),
  '.github/workflows/greet.yml': [
    'name: greet',
    'on: [pull_request]',
    'permissions:',
    '  contents: read',
    'jobs:',
    '  greet:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a workflow expression, not JavaScript's
    '      - run: echo "${{ github.event.pull_request.title }}"',
    '',
  ].join('\n'),
};

/** The lines of case 2's mistakes, as `file:line`. */
export const RISKY_LINES = {
  'the committed key': 'src/config/config.ts:3',
  'the SQL injection': 'src/search.ts:5',
  'the swallowed error': 'src/search.ts:6',
  'the shell injection': '.github/workflows/greet.yml:9',
} as const;

export const ROUNDED = {
  'src/round.ts': [
    '/** Rounds to whole cents. */',
    'export function cents(price: number): number {',
    '  return Math.round(price * 100) / 100;',
    '}',
    '',
  ].join('\n'),
};

export const ROUNDED_AGAIN = {
  'src/round.ts': [
    '/** Rounds to whole cents, halves away from zero. */',
    'export function cents(price: number): number {',
    '  return (Math.sign(price) * Math.round(Math.abs(price) * 100)) / 100;',
    '}',
    '',
  ].join('\n'),
};

export const COUNTED = {
  'src/count.ts': [
    "import type { Line } from './cart.ts';",
    '',
    'export function count(lines: readonly Line[]): number {',
    '  return lines.reduce((sum, line) => sum + line.count, 0);',
    '}',
    '',
  ].join('\n'),
};

export const SORTED = {
  'src/sort.ts': [
    'export interface Product {',
    '  name: string;',
    '  price: number;',
    '}',
    '',
    '/** The cheapest first; the given list stays as it is. */',
    'export function byPrice(products: readonly Product[]): Product[] {',
    '  return [...products].sort((a, b) => a.price - b.price);',
    '}',
    '',
  ].join('\n'),
};

export const WEIGHED = {
  'docs/parcels.md': '# Parcels\n\nThe [weight](weight.md) of a parcel includes its box.\n',
  'src/weight.ts': [
    '/** What a parcel weighs with its box, in grams. */',
    'export function weight(items: readonly { grams: number; count: number }[], box = 120): number {',
    '  return items.reduce((sum, { grams, count }) => sum + grams * count, box);',
    '}',
    '',
  ].join('\n'),
};
