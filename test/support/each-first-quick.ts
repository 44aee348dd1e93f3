import { test } from 'vitest';

/**
 * `test.each` of which the quick suite runs only the first row, and `npm run test:slow` the others: for tables whose rows take long
 * and whose rules have quick tests of their own where they are decided.
 */
export const eachFirstQuick = ((rows: readonly unknown[]) => (title: string, run: () => Promise<void>) => {
  test.each(rows.slice(0, 1))(title, run);
  test.each(rows.slice(1))(title, { tags: 'slow' }, run);
}) as typeof test.each;
