import { Octokit } from '@octokit/rest';
import { describe, expect, it } from 'vitest';
import { readDescription } from './description.ts';
import { createRequestValidator, type ObservedRequest } from './validator.ts';

const validate = createRequestValidator();
const SHA = 'ce587453ced02b1526dfb4cb910479d431683101';
const CHECK_RUNS = '/repos/acme/shop/check-runs';
const REACTIONS = '/repos/acme/shop/issues/comments/7/reactions';

const annotation = {
  path: 'src/a.ts',
  start_line: 3,
  end_line: 3,
  annotation_level: 'warning',
  message: 'unused variable',
};

const checkRun = {
  name: 'countersign / pr-review',
  head_sha: SHA,
  external_id: 'run_1',
  details_url: 'https://countersign.example/runs/run_1',
  status: 'completed',
  conclusion: 'action_required',
  completed_at: '2030-01-02T03:04:05Z',
  output: { title: 'Waiting', summary: 'One approval is missing.', annotations: [annotation] },
  actions: [{ label: 'Run again', description: 'Runs the chain again', identifier: 'rerun' }],
};

function request(method: string, path: string, body?: unknown): ObservedRequest {
  return { method, path, body };
}

describe('a request that GitHub’s description allows has no error', () => {
  it.each([
    ['a completed check run', request('POST', CHECK_RUNS, checkRun)],
    ['a started check run', request('PATCH', `${CHECK_RUNS}/12`, { status: 'in_progress' })],
    [
      'a check run completed',
      request('PATCH', `${CHECK_RUNS}/12`, { status: 'completed', conclusion: 'success' }),
    ],
    ['a comment', request('POST', '/repos/acme/shop/issues/4/comments', { body: 'hello' })],
    ['an edited comment', request('PATCH', '/repos/acme/shop/issues/comments/7', { body: 'hello again' })],
    ['a reaction', request('POST', REACTIONS, { content: 'eyes' })],
    ['a reaction removed', request('DELETE', `${REACTIONS}/9`)],
    [
      'labels',
      request('POST', '/repos/acme/shop/issues/4/labels', { labels: ['ready', { name: 'queued' }] }),
    ],
    ['a label removed', request('DELETE', '/repos/acme/shop/issues/4/labels/area%2Fui%20kit')],
    ['a merge', request('PUT', '/repos/acme/shop/pulls/4/merge', { sha: SHA, merge_method: 'squash' })],
    [
      'a narrowed token',
      request('POST', '/app/installations/5/access_tokens', { permissions: { checks: 'write' } }),
    ],
    ['a token without a body', request('POST', '/app/installations/5/access_tokens')],
    ['an empty text as no body', request('POST', '/app/hook/deliveries/5/attempts', '')],
    ['a method in small letters', request('get', '/app')],
    ['a query', request('GET', '/repos/acme/shop/pulls?state=open&per_page=100&page=2')],
    ['an encoded query', request('GET', `${REACTIONS}?content=%2B1`)],
    ['a path with slashes', request('GET', '/repos/acme/shop/contents/countersign/chains/a.yaml?ref=main')],
    ['a path with encoded slashes', request('GET', '/repos/acme/shop/contents/countersign%2Fchains')],
    ['a ref with slashes', request('GET', '/repos/acme/shop/commits/feature/x/check-runs?filter=latest')],
    ['a comparison', request('GET', '/repos/acme/shop/compare/main...feature%2Fx')],
  ])('%s', (_, sent) => {
    expect(validate(sent)).toEqual([]);
  });
});

describe('one mistake gives one sentence', () => {
  const { head_sha: _, ...withoutHead } = checkRun;
  const CREATE = 'POST /repos/{owner}/{repo}/check-runs';
  const UPDATE = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
  const PULLS = 'GET /repos/{owner}/{repo}/pulls';

  it.each<[string, ObservedRequest, string]>([
    ['a key is missing', request('POST', CHECK_RUNS, withoutHead), `${CREATE}: body.head_sha is missing.`],
    [
      'a word is misspelt',
      request('POST', CHECK_RUNS, { ...checkRun, conclusion: 'succes' }),
      `${CREATE}: body.conclusion must be one of action_required, cancelled, failure, neutral, success, skipped, stale, timed_out, but is "succes".`,
    ],
    [
      'a body key is unknown',
      request('POST', CHECK_RUNS, { ...checkRun, detail_url: 'https://a.example' }),
      `${CREATE}: body.detail_url is not described (did you mean details_url?).`,
    ],
    [
      'a key deep in the body is unknown',
      request('POST', CHECK_RUNS, {
        ...checkRun,
        output: { ...checkRun.output, annotations: [{ ...annotation, severity: 1 }] },
      }),
      `${CREATE}: body.output.annotations[0].severity is not described.`,
    ],
    [
      'text where a number belongs',
      request('POST', CHECK_RUNS, {
        ...checkRun,
        output: { ...checkRun.output, annotations: [{ ...annotation, start_line: '3' }] },
      }),
      `${CREATE}: body.output.annotations[0].start_line must be of type integer, but is "3".`,
    ],
    [
      'a list is too long',
      request('POST', CHECK_RUNS, {
        ...checkRun,
        output: { ...checkRun.output, annotations: Array(51).fill(annotation) },
      }),
      `${CREATE}: body.output.annotations must NOT have more than 50 items.`,
    ],
    [
      'a time has no zone',
      request('POST', CHECK_RUNS, { ...checkRun, completed_at: '2030-01-02 03:04' }),
      `${CREATE}: body.completed_at must match format "date-time".`,
    ],
    [
      'no alternative fits',
      request('PATCH', `${CHECK_RUNS}/12`, { status: 'completed' }),
      `${UPDATE}: body fits none of the alternatives (body.conclusion is missing / body.status must be one of queued, in_progress, but is "completed").`,
    ],
    [
      'an unknown key stands beside alternatives',
      request('PATCH', `${CHECK_RUNS}/12`, { status: 'queued', head_sha: SHA }),
      `${UPDATE}: body.head_sha is not described.`,
    ],
    [
      'an unknown key stands inside an alternative',
      request('POST', '/repos/acme/shop/issues/4/labels', { labels: ['a'], label: 'b' }),
      'POST /repos/{owner}/{repo}/issues/{issue_number}/labels: body.label is not described (did you mean labels?).',
    ],
    [
      'the body is missing',
      request('POST', REACTIONS),
      'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions: body is missing.',
    ],
    [
      'the body is text',
      request('PUT', '/repos/acme/shop/pulls/4/merge', '{}'),
      'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge: body must be of type object, but is "{}".',
    ],
    ['a body is not wanted', request('GET', '/app', {}), 'GET /app: it takes no body, but one was sent.'],
    [
      'a query key is unknown',
      request('GET', '/repos/acme/shop/pulls?perpage=100'),
      `${PULLS}: query.perpage is not described (did you mean per_page?).`,
    ],
    [
      'a query key is repeated',
      request('GET', '/repos/acme/shop/pulls?page=1&page=2'),
      `${PULLS}: query.page is given more than once.`,
    ],
    [
      'a query value that is not a number',
      request('GET', '/repos/acme/shop/pulls?page=0x10'),
      `${PULLS}: query.page must be of type integer, but is "0x10".`,
    ],
    [
      'a plus sign is not encoded',
      request('GET', `${REACTIONS}?content=+1`),
      'GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions: query.content must be one of +1, -1, laugh, confused, heart, hooray, rocket, eyes, but is " 1".',
    ],
    [
      'a path value that is not a number',
      request('GET', '/repos/acme/shop/issues/undefined'),
      'GET /repos/{owner}/{repo}/issues/{issue_number}: path.issue_number must be of type integer, but is "undefined".',
    ],
    [
      'the path is encoded wrongly',
      request('GET', '/users/100%'),
      'GET /users/{username}: the path /users/100% is not percent-encoded correctly.',
    ],
    [
      'the method is not described',
      request('DELETE', '/repos/acme/shop/pulls/4/merge'),
      "GitHub's description has no DELETE /repos/acme/shop/pulls/4/merge, or it is not in the extract.",
    ],
    [
      'a slash breaks a name that cannot hold one',
      request('GET', '/users/a/b'),
      "GitHub's description has no GET /users/a/b, or it is not in the extract.",
    ],
  ])('%s', (_name, sent, diagnostic) => {
    expect(validate(sent)).toEqual([diagnostic]);
  });

  it('and several mistakes give several', () => {
    expect(validate(request('POST', `${CHECK_RUNS}?dry=1`, { name: 5 }))).toEqual([
      `${CREATE}: query.dry is not described.`,
      `${CREATE}: body.head_sha is missing.`,
      `${CREATE}: body.name must be of type string, but is 5.`,
    ]);
  });
});

describe('the extract', () => {
  const operations = Object.entries(readDescription().paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, template, operation })),
  );

  it.each(operations)(
    'has $method $template, and finds it by its own path',
    ({ method, template, operation }) => {
      const path = operation.parameters.reduce(
        (text, { name, schema }) => text.replace(`{${name}}`, schema.type === 'integer' ? '1' : 'a'),
        template,
      );
      const needsBody = operation.requestBody?.required === true;
      expect(validate({ method, path, body: undefined })).toEqual(
        needsBody ? [`${method.toUpperCase()} ${template}: body is missing.`] : [],
      );
      expect(validate({ method, path: `${path}?nonsense=1`, body: needsBody ? {} : undefined })).toContain(
        `${method.toUpperCase()} ${template}: query.nonsense is not described.`,
      );
    },
  );
});

describe('a request that Octokit sends has no error', () => {
  const pull = { owner: 'acme', repo: 'shop', pull_number: 4 };
  const issue = { owner: 'acme', repo: 'shop', issue_number: 4 };

  it.each<[string, (octokit: Octokit) => Promise<unknown>]>([
    ['merge', ({ rest }) => rest.pulls.merge({ ...pull, sha: SHA, merge_method: 'squash' })],
    ['comment', ({ rest }) => rest.issues.createComment({ ...issue, body: 'hello' })],
    ['label', ({ rest }) => rest.issues.removeLabel({ ...issue, name: 'area/ui kit' })],
    [
      'contents',
      ({ rest }) => rest.repos.getContent({ owner: 'acme', repo: 'shop', path: 'a/b c.yaml', ref: SHA }),
    ],
    ['ref', ({ rest }) => rest.git.getRef({ owner: 'acme', repo: 'shop', ref: 'heads/feature/x' })],
    [
      'reactions',
      ({ rest }) =>
        rest.reactions.listForIssueComment({ owner: 'acme', repo: 'shop', comment_id: 7, content: '+1' }),
    ],
    ['redelivery', ({ rest }) => rest.apps.redeliverWebhookDelivery({ delivery_id: 5 })],
  ])('%s', async (_, ask) => {
    const seen: ObservedRequest[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input));
      const text = typeof init?.body === 'string' ? init.body : '';
      seen.push({ method: init?.method ?? 'GET', path: pathname + search, body: text && JSON.parse(text) });
      return Response.json({});
    };
    await ask(new Octokit({ request: { fetch } }));
    expect(seen.flatMap(validate)).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});
