import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/canonical.ts';
import { runShutIn } from '../../src/skill/prompt/process.ts';
import { MAX_RENDERED_BYTES, renderString } from '../../src/skill/prompt/render.ts';
import { missingName } from '../../src/skill/prompt/worker/missing-name.ts';
import { describeRenderFault, type RenderFault } from '../../src/words/prompt.ts';

const render = (template: string, context: { [name: string]: Json } = {}, timeoutMs = 10_000) =>
  renderString(template, context, { signal: new AbortController().signal, timeoutMs });

describe('renderString', () => {
  it('fills in values without escaping them, loops and keeps what is not a tag', async () => {
    const template =
      '{% for f in files %}- {{ f.path }}: {{ f.lines }}\n{% endfor %}{{ "{{" }} $x {{ body|upper }}\n';
    const context = {
      files: [
        { path: '<a&b>', lines: 3 },
        { path: 'c', lines: 4 },
      ],
      body: 'ünï',
    };
    expect(await render(template, context)).toEqual({
      ok: true,
      text: '- <a&b>: 3\n- c: 4\n{{ $x ÜNÏ\n',
    });
  });

  it('never reads a value as a template', async () => {
    expect(await render('{{ a }}', { a: '{{ 7 * 7 }}{% include "x" %}' })).toEqual({
      ok: true,
      text: '{{ 7 * 7 }}{% include "x" %}',
    });
  });

  it('says where a template is wrong, and what is', async () => {
    const wrong = {
      'a\n\n{{ pr.titl }}':
        'review.md, line 3: undefined value: there is no pr.titl (did you mean pr.title?); there are body and title.',
      'a\n{% for x in %}': 'review.md, line 2: syntax error: unexpected end of block.',
      '{{ 1|shell }}': 'review.md, line 1: unknown filter: filter shell is unknown.',
    };
    const told = Object.keys(wrong).map(async (template) =>
      faultOf(await render(template, { pr: { title: '', body: '' } })),
    );
    expect(await Promise.all(told)).toEqual(Object.values(wrong));
  });

  it('gives no way to other files', async () => {
    const ways = ['include "/etc/passwd"', 'import "/etc/passwd" as x', 'extends "/etc/passwd"'];
    const faults = await Promise.all(ways.map(async (way) => faultOf(await render(`{% ${way} %}`))));
    expect(faults).toEqual(ways.map(() => expect.stringMatching(/line 1: template not found/)));
  });

  it('gives no way to the machinery of JavaScript', async () => {
    expect(faultOf(await render('{{ a.constructor.constructor("return process")() }}', { a: {} }))).toMatch(
      /undefined has no method named constructor/,
    );
  });

  it.each<[string, string, RenderFault['kind']]>([
    [
      'an endless loop',
      `{% for a in range(99999) %}${'{% for b in range(99999) %}'.repeat(3)}${'{% endfor %}'.repeat(4)}`,
      'out_of_fuel',
    ],
    ['a macro without end', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 'template'],
    ['a text repeated a thousand million times', '{{ ("x" * 1000000000)|length }}', 'out_of_memory'],
    [
      'a text doubled forty times',
      '{% set n=namespace(v="xx") %}{% for i in range(40) %}{% set n.v=n.v~n.v %}{% endfor %}{{ n.v|length }}',
      'out_of_memory',
    ],
    ['more text than a prompt may have', `{{ "x" * ${MAX_RENDERED_BYTES + 1} }}`, 'too_long'],
  ])('stops %s', async (_what, template, kind) => {
    const before = process.memoryUsage().rss;
    expect(await render(template)).toMatchObject({ ok: false, fault: { kind } });
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it('gives as much text as a prompt may have', async () => {
    const rendered = await render(`{{ "\u0001" * ${MAX_RENDERED_BYTES} }}`);
    expect(rendered.ok && rendered.text.length).toBe(MAX_RENDERED_BYTES);
  });

  it('says so when there was not enough time', async () => {
    expect(await render('{{ 1 }}', {}, 5)).toEqual({ ok: false, fault: { kind: 'timed_out', ms: 5 } });
  });

  it('takes no more values than it can carry', async () => {
    const fault = faultOf(await render('{{ a|length }}', { a: 'x'.repeat(4_000_001) }));
    expect(fault).toMatch(/^review\.md: the template and its values have 4,000,\d{3} bytes/);
  });
});

describe('the process of a render', () => {
  const signal = new AbortController().signal;
  const moduleOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

  it('is killed when it never ends', async () => {
    const bounds = { readable: [], maxOutputBytes: 10_000, timeoutMs: 300, signal };
    expect(await runShutIn(moduleOf('./prompt-endless.ts'), '', bounds)).toEqual({
      kind: 'timed_out',
      ms: 300,
    });
  });

  it('is killed when its caller gives up, whose reason it ends with', async () => {
    const caller = new AbortController();
    const bounds = { readable: [], maxOutputBytes: 10_000, timeoutMs: 60_000, signal: caller.signal };
    const running = runShutIn(moduleOf('./prompt-endless.ts'), '', bounds);
    setTimeout(() => caller.abort(new Error('the run was cancelled')), 200);
    await expect(running).rejects.toThrow('the run was cancelled');
  });

  it('is killed when it never stops talking', async () => {
    const bounds = { readable: [], maxOutputBytes: 10_000, timeoutMs: 10_000, signal };
    expect(await runShutIn(moduleOf('./prompt-endless.ts'), 'talk', bounds)).toEqual({ kind: 'too_long' });
  });

  it('sees no environment and no files, starts nothing, writes nothing and makes no code', async () => {
    process.env.PLANTED_FOR_THE_PROBE = 'x';
    const bounds = { readable: [], maxOutputBytes: 10_000, timeoutMs: 10_000, signal };
    const end = await runShutIn(moduleOf('./prompt-probe.ts'), '', bounds);
    delete process.env.PLANTED_FOR_THE_PROBE;
    expect(end.kind === 'said' && JSON.parse(end.text)).toEqual({
      environment: [],
      'read /etc/passwd': 'ERR_ACCESS_DENIED',
      'read the app’s package.json': 'ERR_ACCESS_DENIED',
      'write a file': 'ERR_ACCESS_DENIED',
      'start a process': 'ERR_ACCESS_DENIED',
      'start a thread': 'ERR_ACCESS_DENIED',
      'make code of a text': 'EvalError',
    });
  });
});

function faultOf(rendered: Awaited<ReturnType<typeof render>>): string {
  return rendered.ok ? rendered.text : describeRenderFault('review.md', rendered.fault);
}

describe('the name of an undefined value', () => {
  const context = { pr: { title: 't', labels: ['a'] }, diff: 'd', files: [] };

  it.each([
    ['{{ dif }}', 'dif'],
    ['{{ pr.titel }}', 'pr.titel'],
    ['{{ pr.titel.length }} {{ diff }}', 'pr.titel.length'],
    ['{{ diff }} {{ "nope" | upper }} {{ nope | upper }}', 'nope'],
    ['{% if nope and diff %}', 'nope'],
    ['{% for file in fils %}{{ file }}', 'fils'],
    ['{{ diff is defined and also }}', 'also'],
    ['{%- if not absent', 'absent'],
  ])('in %s is %s', (line, name) => {
    expect(missingName(`\n${line}`, 2, context)?.name).toBe(name);
  });

  it.each([
    'dif {{ diff }}',
    '{{ pr["titel"] }}',
    '{% for file in files %}{{ file.nope }}{{ loop.index }}',
    '{% set own = diff %}{{ own.nope }}',
    '{{ diff | replace("a", "b") | upper }} {{ range(stop=3) }}',
    '{{ pr.labels.nope }}',
  ])('is not guessed in %s', (line) => {
    expect(missingName(line, 1, context)).toBeUndefined();
  });
});
