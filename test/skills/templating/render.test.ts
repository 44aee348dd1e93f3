import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json } from '../../../src/core/canonical.ts';
import { describeRenderFault, type RenderFault } from '../../../src/messages/skills/prompt.ts';
import { type AnsweringProcess, commandFor, startAnswering } from '../../../src/skills/templating/process.ts';
import { MAX_RENDERED_BYTES, renderString, withRenderer } from '../../../src/skills/templating/render.ts';
import { missingName } from '../../../src/skills/templating/worker/missing-name.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { ownChildren } from '../../support/own-children.ts';

const render = (template: string, context: { [name: string]: Json } = {}, timeoutMs = 100_000) =>
  renderString(template, context, { signal: new AbortController().signal, timeoutMs });

describe('renderString', () => {
  it('fills in values without escaping them, loops, and keeps everything that is not a tag', {
    tags: 'slow',
  }, async () => {
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

  it('never evaluates a value as a template', { tags: 'slow' }, async () => {
    expect(await render('{{ a }}', { a: '{{ 7 * 7 }}{% include "x" %}' })).toEqual({
      ok: true,
      text: '{{ 7 * 7 }}{% include "x" %}',
    });
  });

  it('reports the error of a template and its place', { tags: 'slow' }, async () => {
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

  it('cannot reach other files', { tags: 'slow' }, async () => {
    const ways = ['include "/etc/passwd"', 'import "/etc/passwd" as x', 'extends "/etc/passwd"'];
    const diagnostics = await Promise.all(ways.map(async (way) => faultOf(await render(`{% ${way} %}`))));
    expect(diagnostics).toEqual(ways.map(() => expect.stringMatching(/line 1: template not found/)));
  });

  it('cannot reach the internals of JavaScript', async () => {
    expect(faultOf(await render('{{ a.constructor.constructor("return process")() }}', { a: {} }))).toMatch(
      /undefined has no method named constructor/,
    );
  });

  eachFirstQuick<[string, string, RenderFault['kind']]>([
    [
      'an endless loop',
      `{% for a in range(99999) %}${'{% for b in range(99999) %}'.repeat(3)}${'{% endfor %}'.repeat(4)}`,
      'out_of_fuel',
    ],
    ['an endless macro', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', 'template'],
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

  it('renders as much text as a prompt may have', { tags: 'slow' }, async () => {
    const rendered = await render(`{{ "\u0001" * ${MAX_RENDERED_BYTES} }}`);
    expect(rendered.ok && rendered.text.length).toBe(MAX_RENDERED_BYTES);
  });

  it('reports it if there was not enough time', async () => {
    expect(await render('{{ 1 }}', {}, 5)).toEqual({ ok: false, fault: { kind: 'timed_out', ms: 5 } });
  });

  it('accepts no more values than it can handle', async () => {
    const fault = faultOf(await render('{{ a|length }}', { a: 'x'.repeat(4_000_001) }));
    expect(fault).toMatch(/^review\.md: the template and its values have 4,000,\d{3} bytes/);
  });
});

describe('several renderings of one step', () => {
  const signal = new AbortController().signal;
  const workers = () => ownChildren('templating/worker/main.');
  /** Takes seconds, and few of the engine's steps. */
  const SLOW = '{% for i in range(20000) %}{{ ("x" * 100000)|upper|length }}{% endfor %}';

  it('share one process, which starts with the first and ends with the step', { tags: 'slow' }, async () => {
    const seen = await withRenderer(async (render) => {
      const before = workers();
      const [a, b] = await Promise.all([
        render('{{ 1 }}', {}, { signal }),
        render('{{ 2 }}', {}, { signal }),
      ]);
      const first = workers();
      const c = await render('{{ 3 }}', {}, { signal });
      return { before, texts: [a, b, c], first, later: workers() };
    });
    expect(seen.texts).toEqual(['1', '2', '3'].map((text) => ({ ok: true, text })));
    expect(seen.before).toEqual([]);
    expect(seen.first).toHaveLength(1);
    expect(seen.later).toEqual(seen.first);
    expect(workers()).toEqual([]);
  });

  it('find nothing of earlier ones, however it was kept', async () => {
    const keep =
      '{% set kept = secret %}{% set space = namespace(v=secret) %}{% macro tell() %}{{ secret }}{% endmacro %}{{ tell() }}';
    const asked = ['secret', 'kept', 'space', 'tell', 'self', 'debug()', 'caller'];
    await withRenderer(async (render) => {
      expect(await render(keep, { secret: 'of the first' }, { signal })).toMatchObject({
        text: 'of the first',
      });
      const kept = workers();
      const template = `{{ debug() }} ${asked.map((name) => `{{ ${name}|default("nothing") }}`).join(' ')}`;
      const next = await render(template, { own: 1 }, { signal });
      expect(next).toMatchObject({ ok: true, text: expect.stringContaining('nothing') });
      expect(JSON.stringify(next)).not.toContain('of the first');
      expect(workers()).toEqual(kept);
    });
  });

  it('continue in a new process after one that hangs or breaks its engine', { tags: 'slow' }, async () => {
    await withRenderer(async (render) => {
      const fine = async (value: number) => {
        expect(await render('{{ a }}', { a: value }, { signal })).toEqual({ ok: true, text: String(value) });
        return workers();
      };
      const first = await fine(1);
      const [hung, next] = await Promise.all([render(SLOW, {}, { signal, timeoutMs: 100 }), fine(2)]);
      expect(hung).toEqual({ ok: false, fault: { kind: 'timed_out', ms: 100 } });
      expect(next).toHaveLength(1);
      expect(next).not.toEqual(first);
      expect(await render('{{ ("x" * 1000000000)|length }}', {}, { signal })).toMatchObject({
        fault: { kind: 'out_of_memory' },
      });
      expect(workers()).toEqual([]);
      expect(await fine(3)).toHaveLength(1);
    });
  });

  it('have limits of their own', { tags: 'slow' }, async () => {
    await withRenderer(async (render) => {
      for (let round = 0; round < 2; round++) {
        // Each takes more than half of the steps, the memory and the output of one.
        const greedy =
          '{% for i in range(99999) %}{% if i > n %}{% endif %}{% endfor %}{{ ("x" * m)|length }}';
        expect(await render(greedy, { n: 1, m: 50_000_000 }, { signal })).toMatchObject({ text: '50000000' });
        expect(await render('{{ "\u0001" * m }}', { m: MAX_RENDERED_BYTES }, { signal })).toMatchObject({
          ok: true,
        });
      }
    });
  });

  it('leave no process when the step is aborted, and end with its reason', { tags: 'slow' }, async () => {
    const caller = new AbortController();
    const running = withRenderer(async (render) => {
      const { signal } = caller;
      await render('{{ 1 }}', {}, { signal });
      setTimeout(() => caller.abort(new Error('the run was cancelled')), 50);
      return Promise.all([render(SLOW, {}, { signal }), render('{{ 2 }}', {}, { signal })]);
    });
    await expect(running).rejects.toThrow('the run was cancelled');
    expect(workers()).toEqual([]);
  });

  it('start no process once the step has ended, in any of its parts', { tags: 'slow' }, async () => {
    let late: Promise<unknown> = Promise.resolve();
    const step = withRenderer(async (render) => {
      late = render('{{ 1 }}', {}, { signal }).then(() => render('{{ 2 }}', {}, { signal }));
      await render('{{ 3 }}', {}, { signal });
      throw new Error('the model is gone');
    });
    const refused = expect(late).rejects.toThrow('what it was rendered for has ended');
    await expect(step).rejects.toThrow('the model is gone');
    await refused;
    expect(workers()).toEqual([]);
  });

  it('end when nobody is left to ask, as when the app was killed', { tags: 'slow' }, async () => {
    const main = fileURLToPath(new URL('../../../src/skills/templating/worker/main.ts', import.meta.url));
    const child = spawn(process.execPath, [main], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('the process of renderings', () => {
  const signal = new AbortController().signal;
  const within = { timeoutMs: 100_000, signal };
  async function start(name: string): Promise<AnsweringProcess> {
    const main = fileURLToPath(new URL(name, import.meta.url));
    const child = startAnswering(await commandFor(main, []), 10_000);
    onTestFinished(async () => {
      child.stop();
      await child.ended;
    });
    return child;
  }

  it('answers one question after another until it is ended', { tags: 'slow' }, async () => {
    const child = await start('./misbehaving.ts');
    expect(await child.ask('a', within)).toEqual({ kind: 'answer', text: 'a' });
    expect(await child.ask('b', within)).toEqual({ kind: 'answer', text: 'b' });
    expect(child.over.aborted).toBe(false);
    child.stop();
    await child.ended;
    expect(child.over.aborted).toBe(true);
  });

  it('is killed if it never ends', { tags: 'slow' }, async () => {
    const child = await start('./misbehaving.ts');
    expect(await child.ask('endless', { signal, timeoutMs: 300 })).toEqual({ kind: 'timed_out', ms: 300 });
    expect(child.over.aborted).toBe(true);
  });

  it('is killed when its caller gives up, and ends with the caller’s reason', async () => {
    const caller = new AbortController();
    const child = await start('./misbehaving.ts');
    const running = child.ask('endless', { timeoutMs: 100_000, signal: caller.signal });
    setTimeout(() => caller.abort(new Error('the run was cancelled')), 200);
    await expect(running).rejects.toThrow('the run was cancelled');
    expect(child.over.aborted).toBe(true);
  });

  it('is killed if it never stops writing', { tags: 'slow' }, async () => {
    const child = await start('./misbehaving.ts');
    expect(await child.ask('talk', within)).toEqual({ kind: 'too_long' });
  });

  it('is reported when it dies', { tags: 'slow' }, async () => {
    const child = await start('./misbehaving.ts');
    expect(await child.ask('die', within)).toEqual({ kind: 'crashed', detail: 'exit code 3' });
  });

  it('is killed if it writes more than an answer, so that nothing counts as the next one', {
    tags: 'slow',
  }, async () => {
    const atOnce = await start('./misbehaving.ts');
    expect(await atOnce.ask('twice', within)).toEqual({
      kind: 'crashed',
      detail: 'it said more than it was asked',
    });
    const later = await start('./misbehaving.ts');
    expect(await later.ask('a', within)).toEqual({ kind: 'answer', text: 'a' });
    // The process repeats this too, but nobody asked for it.
    later.writeLine('b');
    await expect.poll(() => later.over.aborted).toBe(true);
  });

  it('sees no environment and no files, starts nothing, writes nothing and makes no code', async () => {
    process.env.PLANTED_FOR_THE_PROBE = 'x';
    const probe = await start('./probe.ts');
    delete process.env.PLANTED_FOR_THE_PROBE;
    const said = await probe.ask('', within);
    expect(said.kind === 'answer' && JSON.parse(said.text)).toEqual({
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
