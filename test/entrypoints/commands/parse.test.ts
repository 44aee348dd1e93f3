import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_COMMANDS, parseCommands } from '../../../src/entrypoints/commands/parse.ts';

const errorOf = (markdown: string): string => {
  const [only, ...more] = parseCommands(markdown);
  if (!only || !('error' in only) || more.length > 0)
    throw new Error(`one error was expected for ${markdown}`);
  return only.error;
};

describe('a command is found', () => {
  it.each([
    ['alone', '/countersign status', { verb: 'status' }],
    ['in capitals', '/Countersign STATUS', { verb: 'status' }],
    ['with tabs and trailing spaces', '/countersign\t status \t ', { verb: 'status' }],
    ['behind up to three spaces', '   /countersign status', { verb: 'status' }],
    ['with Windows line ends', 'Hello\r\n/countersign status\r\n', { verb: 'status' }],
    ['under a sentence', 'Looks good now.\n/countersign ci', { verb: 'ci' }],
    ['under a hard line break', 'Looks good.  \n/countersign ci', { verb: 'ci' }],
    ['under markup', 'See `x` and **y** in [z](u)\n/countersign ci', { verb: 'ci' }],
    ['under a quotation', '> old words\n\n/countersign ci', { verb: 'ci' }],
    ['under a template comment', '<!-- please fill in -->\n\n/countersign ci', { verb: 'ci' }],
    ['under a closed element', '<details>\n\nlog\n\n</details>\n\n/countersign ci', { verb: 'ci' }],
    ['under an image', 'x <img src="a"> y<br>\n/countersign ci', { verb: 'ci' }],
    ['under a closed fence', '```\n/countersign pause\n```\n/countersign ci', { verb: 'ci' }],
    [
      'that accepts a finding',
      '/countersign accept 3F9A1C07 because the column is empty',
      { verb: 'accept', finding: '3f9a1c07', because: 'the column is empty' },
    ],
    ['that withdraws it', '/countersign withdraw 3F9A1C07', { verb: 'withdraw', finding: '3f9a1c07' }],
    [
      'that accepts a finding as its name is shown',
      '/countersign accept `3f9a1c07` Because: intended',
      { verb: 'accept', finding: '3f9a1c07', because: 'intended' },
    ],
    ['that reviews one file', '/countersign review src/a b.ts', { verb: 'review', path: 'src/a b.ts' }],
    [
      'that reviews a file in code marks',
      '/countersign review `src/a.ts`',
      { verb: 'review', path: 'src/a.ts' },
    ],
    ['that reruns everything that failed', '/countersign rerun', { verb: 'rerun' }],
    ['that approves what waits', '/countersign approve', { verb: 'approve' }],
    ['that rejects a step that waits', '/countersign Reject safe', { verb: 'reject', step: 'safe' }],
    ['that reruns a step', '/countersign rerun unit-tests', { verb: 'rerun', step: 'unit-tests' }],
    [
      'a question',
      '/countersign ask  are the names good? a=b',
      { verb: 'ask', question: 'are the names good? a=b' },
    ],
    ['that fires a chain', '/countersign fire deploy', { verb: 'fire', chain: 'deploy', inputs: {} }],
    [
      'with inputs',
      `/countersign fire deploy env=staging note="two \\"words\\"" other='it is' empty= url=a=b`,
      {
        verb: 'fire',
        chain: 'deploy',
        inputs: { env: 'staging', note: 'two "words"', other: 'it is', empty: '', url: 'a=b' },
      },
    ],
    [
      'with an input named like a member of every object',
      '/countersign fire deploy constructor=x',
      { verb: 'fire', chain: 'deploy', inputs: { constructor: 'x' } },
    ],
  ])('%s', (_, markdown, command) => {
    expect(parseCommands(markdown)).toEqual([{ ok: command }]);
  });

  it('several times in one comment, in order', () => {
    expect(parseCommands('/countersign ci\n/countersign why\n\n/countersign help')).toEqual([
      { ok: { verb: 'ci' } },
      { ok: { verb: 'why' } },
      { ok: { verb: 'help' } },
    ]);
  });

  it('at most five times, and the rest is reported as omitted', () => {
    const parsed = parseCommands('/countersign ci\n'.repeat(7));
    expect(parsed).toHaveLength(MAX_COMMANDS + 1);
    expect(parsed.at(-1)).toEqual({ error: 'Only the first 5 commands of a comment are executed.' });
  });
});

describe('a command that cannot be parsed gets one sentence', () => {
  it.each([
    ['an unknown verb', '/countersign merge', /^There is no command `merge`; `\/countersign help` lists/],
    ['a misspelt verb', '/countersign statsu', /did you mean `\/countersign status`\?$/],
    ['a verb with a look-alike letter', '/countersign \u0441i', /^There is no command/],
    ['no verb', '/countersign', /^Say what to do/],
    ['no finding', '/countersign accept', /^Say which finding to accept and why/],
    ['no finding to withdraw', '/countersign withdraw', /^Say which finding is not accepted any more/],
    ['a name of no finding to withdraw', '/countersign withdraw all', /^`all` is no name of a finding/],
    [
      'words after the finding to withdraw',
      '/countersign withdraw 3f9a1c07 because x',
      /takes nothing after the finding, but got `because x`/,
    ],
    ['a name of no finding', '/countersign accept all because x', /^`all` is no name of a finding/],
    ['too few letters of a finding', '/countersign accept 3f9 because x', /is no name of a finding/],
    ['a finding without a reason', '/countersign accept 3f9a1c07', /^Say why the finding is all right/],
    ['an empty reason', '/countersign accept 3f9a1c07 because', /^Say why the finding is all right/],
    ['another word than because', '/countersign accept 3f9a1c07 since x', /^Say why the finding/],
    [
      'a reason that is too long',
      `/countersign accept 3f9a1c07 because ${'x'.repeat(301)}`,
      /^The reason may have 300 characters at most\.$/,
    ],
    ['a colon instead of a space', '/countersign: ci', /there must be a space\.$/],
    ['a zero-width space', '/countersign ci\u200b', /invisible character/],
    ['a no-break space', '/countersign\u00a0ci', /invisible character/],
    ['a change of direction', '/countersign fire x a="\u202eb"', /invisible character/],
    [
      'words after a verb that allows none',
      '/countersign pause please',
      /takes nothing after it, but got `please`/,
    ],
    ['two steps to approve', '/countersign approve a b', /approve` takes the id of one step/],
    ['two steps', '/countersign rerun a b', /takes the id of one step/],
    ['no question', '/countersign ask', /^Say what you ask/],
    ['a very long question', `/countersign ask ${'y'.repeat(1_001)}`, /1,000 characters at most/],
    ['no chain', '/countersign fire', /^Say which chain/],
    ['an invalid chain name', '/countersign fire ../x', /is no name of a chain/],
    ['an input without a value', '/countersign fire x y', /`key=value`.*but got `y`/],
    ['a quote that is not closed', '/countersign fire x y="z', /but got `y="z`/],
    ['text after a closed quote', '/countersign fire x y="z"w', /but got `y="z"w`/],
    ['curly quotes', '/countersign fire x y=“z”', /straight quotes/],
    ['an invalid input name', '/countersign fire x __proto__=1', /is no name of an input/],
    ['a repeated input', '/countersign fire x a=1 a=2', /`a` is given twice/],
    ['a very long value', `/countersign fire x a=${'y'.repeat(1_001)}`, /longer than 1,000/],
    ['a very long comment', `/countersign ci\n${'word '.repeat(2_000)}`, /8,000 characters at most/],
  ])('for %s', (_, markdown, sentence) => {
    expect(errorOf(markdown)).toMatch(sentence);
  });
});

/** Every way in which a line can be in a comment without being the writer's own words. */
const QUOTED: [string, (command: string) => string][] = [
  ['a quote', (command) => `> ${command}`],
  ['a quote in a quote', (command) => `> > ${command}`],
  ['the lazy second line of a quote', (command) => `> said\n${command}`],
  ['a fence', (command) => `\`\`\`\n${command}\n\`\`\``],
  ['a fence of tildes', (command) => `~~~sh\n${command}\n~~~`],
  ['a fence with a shorter one inside', (command) => `\`\`\`\`\n\`\`\`\n${command}\n\`\`\`\n\`\`\`\``],
  ['a fence that is never closed', (command) => `\`\`\`\n\n${command}`],
  ['an indented block', (command) => `\n    ${command}`],
  ['a block indented by a tab', (command) => `\n\t${command}`],
  ['inline code', (command) => `\`${command}\``],
  ['inline code over several lines', (command) => `look: \`x\n${command}\ny\``],
  ['an HTML comment', (command) => `<!--\n${command}\n-->`],
  ['an HTML comment with blank lines', (command) => `<!-- a\n\n${command}\n\nb -->`],
  ['an HTML comment inside a paragraph', (command) => `x <!-- y\n${command}\n-->`],
  ['an HTML comment that is never closed', (command) => `<!--\n\n${command}`],
  ['an HTML block', (command) => `<pre>\n${command}\n</pre>`],
  ['an HTML element around paragraphs', (command) => `<blockquote>\n\n${command}\n\n</blockquote>`],
  [
    'an element that a comment only seems to close',
    (command) => `<details>\n<!-- </details> -->\n\n${command}`,
  ],
  ['an inline element', (command) => `x <del>y\n${command}\n</del>`],
  ['a script', (command) => `<script>\n\n${command}\n\n</script>`],
  ['a list', (command) => `- ${command}`],
  ['the lazy second line of a list', (command) => `- x\n${command}`],
  ['a numbered list', (command) => `1. ${command}`],
  ['a link', (command) => `[x\n${command}](https://example.com)`],
  ['the text for an image', (command) => `![x\n${command}](https://example.com)`],
  ['emphasis', (command) => `*x\n${command} y*`],
  ['a heading', (command) => `# ${command}`],
  ['an underlined heading', (command) => `${command}\n===`],
  ['a table', (command) => `| a | b |\n|---|:-:|\n${command}`],
  ['a table with one column', (command) => `a\n:-\n${command}`],
  ['a footnote', (command) => `[^1]: x\n${command}`],
  ['a formula', (command) => `$$\n${command}\n$$`],
  ['the title of a definition', (command) => `[x]: /y "\n${command}\n"`],
  ['the middle of a line', (command) => `please ${command}`],
  ['a longer word', (command) => command.replace(/^.countersign/i, '/countersign-bot')],
  ['a path', (command) => command.replace(/^.countersign/i, '/countersign/src')],
];

describe('a quoted command is never found', () => {
  it.each(QUOTED)('in %s', (_, quote) => {
    expect(parseCommands(quote('/countersign ci'))).toEqual([]);
  });

  it('among other paragraphs, whatever the line ends', { tags: 'slow' }, () => {
    const prose = fc.constantFrom(
      'Thanks!',
      'One\ntwo',
      '**bold** words',
      '<br>',
      '- a list\n- of two',
      '> said',
    );
    const command = fc.constantFrom('/countersign ci', '/COUNTERSIGN fire x a=b', '/countersign nonsense');
    fc.assert(
      fc.property(
        fc.array(prose, { maxLength: 3 }),
        fc.constantFrom(...QUOTED.map(([, quote]) => quote)),
        fc.array(prose, { maxLength: 3 }),
        command,
        fc.constantFrom('\n', '\r\n', '\r'),
        (before, quote, after, line, lineEnd) => {
          const comment = [...before, '', quote(line), '', ...after].join('\n\n');
          expect(parseCommands(comment.replaceAll('\n', lineEnd))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the parser', () => {
  it('never throws', { tags: 'slow' }, () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '/countersign',
        ' fire x',
        ' a="',
        '\\"',
        '\n',
        '\r\n',
        '```',
        '> ',
        '- ',
        '<!--',
        '<b>',
        '`',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const parsed of parseCommands(`${pieces.join('')}\n\n/countersign ${pieces.join('')}`)) {
          expect('ok' in parsed || parsed.error.length > 0).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['nested lists', '- '.repeat(3_900)],
    ['nested quotes', '>'.repeat(7_900)],
    ['runs of emphasis', `${'*'.repeat(3_900)}a${'*'.repeat(3_900)}`],
    ['hundreds of underlined headings', 'a\n=\n'.repeat(600)],
    ['nested images', `${'!['.repeat(1_200)}a${'](b)'.repeat(1_200)}`],
    ['hundreds of HTML instructions', 'a <?'.repeat(1_900)],
  ])(
    'finds no command beside %s: nobody writes such comments, and parsing them would take seconds',
    (_, hostile) => {
      expect(parseCommands(`${hostile}\n\n/countersign ci`)).toEqual([]);
    },
  );
});
