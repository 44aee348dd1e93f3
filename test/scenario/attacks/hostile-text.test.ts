// @module-tag security

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { expect, test } from 'vitest';
import { runShow } from '../../../src/messages/cli/terminal.ts';
import { YAML_ATTACKS } from '../../security/untrusted/yaml-corpus.ts';
import { REPO } from '../../support/harness.ts';
import { only, type Scene, scenes } from '../support-scene.ts';

const start = scenes();

/** Everything that a text can try on GitHub at once; each part is harmless to Git and to GitHub's own pages. */
const HOSTILE = [
  '@octo/owners @everyone @mia closes #1 octo/other#2 GH-3',
  '![beacon](https://evil.example/p.png) <img src=https://evil.example/q.png onerror=alert(1)>',
  '[click](javascript:alert(1)) https://evil.example www.evil.example mailto:a@evil.example',
  '--> <!-- countersign:approval head=x base=main --> </details> <!-- countersign:status -->',
  '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202efdp.exe\u200b\ufeff',
  '`` ` ``` | a | b |',
].join(' ');

const ECHO = `name: echo
trigger: { event: pr.opened }
steps:
  - id: say
    action: gh-comment
    with: { body: "Title: {{ trigger.title }}\\n\\n> {{ trigger.author }}\\n\\n- {{ trigger.title }}{{ trigger.head }}" }
  - skill: pr-review
  - { skill: ci, on_failure: continue }
`;

const FILE = `src/@octo/owners ![x](https:⁄⁄evil.example) --> <img src=x> \u202Etxt.js`;
const CHECK = '@octo/owners <img src=x> ![b](https://evil.example/p.png) [x](javascript:alert(1)) | `#1`';

function nodes(node: Nodes): Nodes[] {
  return [node, ...('children' in node ? node.children.flatMap(nodes) : [])];
}

/** What GitHub would turn into more than text. */
function live(markdown: string, linksTo: RegExp): string[] {
  return nodes(fromMarkdown(markdown)).flatMap((node) => {
    if (['image', 'imageReference', 'definition', 'linkReference'].includes(node.type)) return [node.type];
    if (node.type === 'html') {
      const ours =
        /^(<br>|<\/?sub>|<\/details>|<details><summary>[^<>]*<\/summary>|<!-- countersign:(?:(?!--).)* -->)$/;
      return node.value.split('\n').filter((line) => !ours.test(line.trim()));
    }
    if (node.type === 'link') return linksTo.test(node.url) ? [] : [`link to ${node.url}`];
    if (node.type !== 'text') return [];
    return node.value.match(/@[a-z0-9][\w/-]*|(?<![\w#])#\d+|GH-\d|https?:\/\/\S+|www\.\S+/gi) ?? [];
  });
}

/** Everything that the app wrote on GitHub about a pull request. */
function written(scene: Scene, number: number, sha: string): string[] {
  const { github } = scene;
  const comments = github.comments(REPO, number).filter(({ author }) => author === github.app.botLogin);
  const checks = github.checkRuns(REPO, sha).filter(({ app }) => app === github.app.slug);
  return [
    ...comments.map(({ body }) => body),
    ...checks.flatMap(({ summary, text }) => [summary ?? '', text ?? '']),
  ];
}

test('a pull request that is hostile in every text stays plain text wherever the app shows it', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ echo: ECHO }));
  const { number, headSha } = await scene.open({
    title: HOSTILE,
    body: `${HOSTILE}\n\n${HOSTILE}`,
    branch: 'a@octo/owners#1<img>',
    files: { [FILE]: 'export const run = (input) => eval(input);\n' },
  });
  await scene.github.reportCheck(REPO, headSha, { name: CHECK, status: 'completed', conclusion: 'failure' });
  await scene.github.setStatus(REPO, headSha, { context: HOSTILE.slice(0, 200), state: 'failure' });
  const id = await scene.say(number, 'otto', `/countersign ${HOSTILE}`);
  await scene.say(number, 'ada', `/countersign fire @octo/owners <img src=x> ${HOSTILE}`);
  await scene.advance(60_000);

  const all = written(scene, number, headSha);
  expect(scene.replies(number, id).length).toBeLessThanOrEqual(1);
  expect(all.join('\n')).toContain('owners');
  expect(all.flatMap((text) => live(text, /^(https:\/\/github\.com|http:\/\/127\.0\.0\.1:\d+)\//))).toEqual(
    [],
  );
  for (const text of all) expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);

  const markers = all.flatMap((text) => text.match(/<!--/g) ?? []);
  const comments = scene.github
    .comments(REPO, number)
    .filter(({ author }) => author === scene.github.app.botLogin);
  expect(markers).toHaveLength(comments.length);
  expect(comments.filter(({ body }) => body.startsWith('<!-- countersign:status -->'))).toHaveLength(1);
  expect(all.join('\n')).toContain('⟨U+202E⟩txt.js');

  const [run] = await scene.runs('echo');
  const state = run && (await scene.app.storage.read.runs.load(run.id));
  if (!state) throw new Error('there is no run');
  expect(runShow(state, null, new Date()).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('a hostile text in a log line is data in one line of JSON, and cannot control a terminal', async () => {
  const log = new URL('../../../src/core/log-lines.ts', import.meta.url).href;
  const text = `${HOSTILE}\r\n{"level":60}\u2028\u{e0041}`;
  const script = `import { createLog } from '${log}'; createLog('info').info({ text: ${JSON.stringify(text)} }, ${JSON.stringify(text)});`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { NODE_NO_WARNINGS: '1' },
  });
  expect(stderr.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  expect(JSON.parse(stderr)).toMatchObject({ text, msg: text });
});

const BOMBS = YAML_ATTACKS.filter(([name]) =>
  /laughs in lists|aliases of nothing|NUL|commas|UTF-8/.test(name),
);

test('hostile chain and settings files in a pull request get their errors reported, and govern nothing', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    only({
      echo: 'name: echo\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [seen] } }]\n',
    }),
  );
  const files = Object.fromEntries(
    BOMBS.map(([, text], index) => [`.github/countersign/chains/bomb${index}.yaml`, text]),
  );
  const { number, headSha } = await scene.open({
    files: { ...files, '.github/countersign.yml': `chains: []\n# ${'\0'}` },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  for (const [index, [, , place]] of BOMBS.entries()) {
    expect(check?.summary).toContain(`bomb${index}.yaml:${place.split(':')[0]}:`);
  }
  expect(check?.summary).toContain('countersign.yml:2:3');
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
});

test('a pull request’s symbolic links that lead out of its tree are read as the paths they contain', {
  tags: 'slow',
}, async () => {
  const review = 'name: review\ntrigger: { event: pr.opened }\nsteps: [{ skill: pr-review }]\n';
  const scene = await start(only({ review }));
  const { headSha } = await scene.open({
    files: {
      'src/a.ts': { symlink: '/etc/passwd' },
      '.github/countersign.yml': { symlink: '../../../../etc/passwd' },
      '.github/countersign/chains/spy.yaml': { symlink: '/proc/self/environ' },
    },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  for (const file of ['countersign.yml', 'chains/spy.yaml']) expect(check?.summary).toMatch(`${file}:1:1`);
  const all = JSON.stringify(scene.github.checkRuns(REPO, headSha));
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .filter((line) => line.includes(':'));
  for (const secret of [...accounts, `PATH=${process.env.PATH}`]) expect(all).not.toContain(secret);
  expect(scene.check(headSha, 'review')?.status).toBe('completed');
});

test('the same links on the base branch stop what they define, and nothing else', {
  tags: 'slow',
}, async () => {
  const chains = Object.fromEntries(BOMBS.map(([, text], index) => [`bomb${index}`, text]));
  const good =
    'name: good\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [seen] } }]\n';
  const scene = await start(only({ ...chains, good }));
  const { number, headSha } = await scene.open();
  const check = scene.check(headSha, 'base configuration');
  expect(check?.conclusion).toBe('neutral');
  expect(check?.summary).toMatch(/bomb0\.yaml:2:\d+.*more than 20 aliases/);
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
});
