import { expect, test } from 'vitest';
import { markdown } from '../../../src/messages/studio/markdown.ts';
import { HOSTILE_TEXTS } from '../../support/hostile/texts.ts';
import { readMarkup } from '../../support/markup.ts';

const shown = async (text: string) => String(await markdown(text));

test('Markdown is shown with its form', async () => {
  expect(
    await shown(
      [
        '# One\n\n#### Four\n\nA *b* **c** `d`  \ne',
        '> quoted\n\n3. three\n4. four\n\n---',
        '```js\nlet x;\n```',
        '[to](https://a.example/x) [by name][n] ![drawn](https://a.example/y.png) [![badge](https://a.example/z)](https://b.example/)',
        '[n]: https://c.example/ "title"',
        '[bad](javascript:hit()) [local](/sign-out) <https://d.example> <b>no</b>',
        '<div>\nblock\n</div>',
      ].join('\n\n'),
    ),
  ).toMatchSnapshot();
});

test.each(HOSTILE_TEXTS)('Markdown with $name shows it as text', async ({ text }) => {
  const html = `${await shown(text)}${await shown(`# ${text}\n\n- [${text}](${text})\n\n> **${text}**\n\n    ${text}`)}`;
  const { elements, faults, unseen } = readMarkup(html.replaceAll('undefined', ''));
  expect({ faults, unseen }).toEqual({ faults: [], unseen: [] });
  const addresses = elements.filter((one) => one.addresses.some((address) => !/^https?:/.test(address)));
  expect(addresses).toEqual([]);
  expect(elements.filter(({ shape }) => !SHAPES.test(shape)).map(({ shape }) => shape)).toEqual([]);
});

const SHAPES =
  /^(div\[class\]|a\[href,rel\]|ol\[start\]|pre\[aria-label,role,tabindex\]|(p|h[2-5]|em|strong|code|blockquote|ul|li|br|hr)(\[\])?)$/;

test('Markdown that is long, or would take a parser long, is not shown with its form', () => {
  expect(markdown('x'.repeat(60_001))).toBeUndefined();
  expect(markdown(`${'!['.repeat(2_500)}a${'](b)'.repeat(2_500)}`)).toBeUndefined();
  expect(markdown('a <?'.repeat(700))).toBeUndefined();
  expect(markdown('``]\\ '.repeat(5_000))).toBeUndefined();
  expect(markdown(`> a\n${'b\n'.repeat(14_000)}`)).toBeUndefined();
  expect(markdown('- '.repeat(8_000))).toBeUndefined();
  expect(markdown('[a](b) '.repeat(1_900))).toBeDefined();
});
