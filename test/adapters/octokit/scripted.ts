import nock from 'nock';
import { onTestFinished } from 'vitest';
import {
  createOctokitGitHub,
  type OctokitGitHub,
  type OctokitGitHubOptions,
} from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createRequestValidator, type ObservedRequest } from '../../support/openapi/validator.ts';
import { APP_ID, INSTALLATION, NOW, privateKey } from './fake-server.ts';

const ORIGIN = 'https://github.example';
const REST = '/api/v3';
export const TOKEN = `/app/installations/${INSTALLATION}/access_tokens`;
export const NOT_FOUND = { message: 'Not Found' };

export interface Scripted {
  github: OctokitGitHub;
  /** Scripts answers: `rest.get(path).reply(200, body)` answers one request, whatever its query. */
  rest: Record<'get' | 'post' | 'patch' | 'put' | 'delete', (path: string) => nock.Interceptor>;
  /** Scripts the answer to one query. */
  graphql: () => nock.Interceptor;
  /** In order, without the requests for tokens. */
  requests: (ObservedRequest & { headers: Record<string, string> })[];
  tokensAsked: () => number;
}

// Importing nock activates it, and the other tests of this process use the network.
nock.restore();
const validate = createRequestValidator();

/** The adapter, and a GitHub of which a test scripts every answer, except for tokens. Requests that GitHub's own description does not allow fail. */
export function scriptGitHub({
  key = privateKey,
  givesTokens = true,
  ...options
}: Partial<OctokitGitHubOptions> & { key?: string; givesTokens?: boolean } = {}): Scripted {
  if (!nock.isActive()) nock.activate();
  nock.disableNetConnect();
  onTestFinished(() => {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  });
  const api = nock(`${ORIGIN}${REST}`);
  if (givesTokens) nock(`${ORIGIN}${REST}`).persist().post(TOKEN).reply(201, givenToken('ghs_secret'));

  const requests: Scripted['requests'] = [];
  let tokens = 0;
  const github = createOctokitGitHub({
    source: octokitsWithKey({ appId: APP_ID, privateKey: key, apiUrl: `${ORIGIN}${REST}` }),
    log: silentLog,
    clock: { now: () => NOW },
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input));
      const path = `${pathname.replace(/^\/api(\/v3|(?=\/graphql$))/, '')}${search}`;
      const method = init?.method ?? 'GET';
      const text = init?.body;
      const headers = Object.fromEntries(new Headers(init?.headers));
      const request = { method, path, headers, body: text ? JSON.parse(String(text)) : undefined };
      // GitHub itself gives addresses by id, in redirects.
      const faults = path.startsWith('/repositories/') ? [] : validate(request);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      if (path === TOKEN) tokens++;
      else requests.push(request);
      return fetch(input, init);
    },
    ...options,
  });
  return {
    github,
    rest: {
      get: (path) => api.get(path).query(true),
      post: (path) => api.post(path).query(true),
      patch: (path) => api.patch(path).query(true),
      put: (path) => api.put(path).query(true),
      delete: (path) => api.delete(path).query(true),
    },
    graphql: () => nock(ORIGIN).post('/api/graphql'),
    requests,
    tokensAsked: () => tokens,
  };
}

export function givenToken(token: string) {
  return { token, expires_at: '2099-01-01T00:00:00Z', permissions: {} };
}

/** Answers with a list page by page, with the `Link` header in GitHub's format: `rest.get(path).times(3).reply(pages(all))`. */
export function pages(all: readonly unknown[], wrap: (page: unknown[]) => unknown = (page) => page) {
  return ({ url }: Request): [number, nock.Body, nock.ReplyHeaders] => {
    const query = new URL(url).searchParams;
    const size = Number(query.get('per_page') ?? 30);
    const page = Number(query.get('page') ?? 1);
    const body = wrap(all.slice((page - 1) * size, page * size)) as nock.Body;
    const more = { link: `<https://elsewhere.example/?page=${page + 1}>; rel="next"` };
    return [200, body, page * size >= all.length ? {} : more];
  };
}
