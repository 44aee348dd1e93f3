// @module-tag security

import { describe, expect, test } from 'vitest';
import type { RepositoryRole } from '../../../src/domain/policy/role.ts';
import { trustOf } from '../../../src/domain/policy/trust.ts';
import { readTrustContext, type TrustSubject } from '../../../src/engine/gates/trust-facts.ts';
import { type Commit, GitHubError, type GitHubReader, type PullRequest } from '../../../src/ports/github.ts';
import { chainOfSteps, HEAD, manualEvent, pullRequestEvent, runState } from '../../support/builders.ts';

const REPO = { owner: 'acme', name: 'shop' };

/** GitHub with one pull request of ada's and these roles. It records whose role was requested. */
function github(pull: Partial<PullRequest>, roles: Record<string, RepositoryRole>) {
  const asked: string[] = [];
  const reader: Pick<GitHubReader, 'pullRequest' | 'role'> = {
    async pullRequest() {
      return { author: { id: 1, login: 'ada', type: 'User' }, headSha: HEAD, ...pull } as PullRequest;
    },
    async role(_, login) {
      asked.push(login);
      const role = roles[login];
      if (!role) throw new GitHubError('unavailable', 503, 'not now');
      return role;
    },
  };
  return { reader: reader as GitHubReader, asked };
}

function subject(more: Partial<TrustSubject> = {}): TrustSubject {
  const { run } = runState(chainOfSteps('id: a'), { event: pullRequestEvent() });
  return { ...run, ...more };
}

const own = (authorAssociation: string) => ({ headRepository: 'acme/shop', authorAssociation });

describe('the facts for trust', () => {
  test.each(['OWNER', 'MEMBER', 'COLLABORATOR'])(
    'use the association where GitHub says %s, without reading a role',
    async (says) => {
      const { reader, asked } = github(own(says), {});
      expect(trustOf(await readTrustContext(reader, REPO, subject())).level).toBe('standard');
      expect(asked).toEqual([]);
    },
  );

  test.each(['NONE', 'CONTRIBUTOR', 'FIRST_TIMER', 'MANNEQUIN', ''])(
    'read the role where GitHub says %j, as it does for members that it does not show',
    async (says) => {
      const member = github(own(says), { ada: 'write' });
      expect(trustOf(await readTrustContext(member.reader, REPO, subject())).level).toBe('standard');
      expect(member.asked).toEqual(['ada']);
      const outsider = github(own(says), { ada: 'read' });
      expect(trustOf(await readTrustContext(outsider.reader, REPO, subject())).level).toBe('sandbox');
    },
  );

  test('include the current role of whoever fired the run', async () => {
    const fired = subject({ event: manualEvent('example') });
    const levelWith = async (mia: RepositoryRole) =>
      trustOf(await readTrustContext(github(own('MEMBER'), { mia }).reader, REPO, fired)).level;
    expect([await levelWith('maintain'), await levelWith('write')]).toEqual(['elevated', 'standard']);
  });

  test('ignore the association of a bot', async () => {
    const { reader } = github({ ...own('MEMBER'), author: { id: 2, login: 'helper', type: 'Bot' } }, {});
    expect(trustOf(await readTrustContext(reader, REPO, subject())).level).toBe('sandbox');
  });

  test('never include a countersign, because only the merge gate decides that', async () => {
    const { reader } = github(own('MEMBER'), {});
    expect((await readTrustContext(reader, REPO, subject())).countersign).toBeUndefined();
  });

  test('include whose issue or push it was if there is no pull request', async () => {
    const place = { installation_id: 1, repository: { id: 2, ...REPO } };
    const issue = {
      kind: 'issue.created' as const,
      ...place,
      issue: 3,
      title: 'Help',
      author: 'otto',
      labels: [],
    };
    const push = {
      kind: 'file.changed' as const,
      ...place,
      branch: 'main',
      default_branch: 'main',
      before_sha: '',
      forced: false,
      head_sha: HEAD,
      pusher: 'will',
      paths: [],
    };
    const { reader } = github({}, { otto: 'read', will: 'write' });
    const levelOf = async (event: TrustSubject['event']) =>
      trustOf(await readTrustContext(reader, REPO, subject({ pullRequest: null, event }))).level;
    expect([await levelOf(issue), await levelOf(push)]).toEqual(['sandbox', 'standard']);
  });

  test('include the default branch of a check only if that branch has the commit', async () => {
    const ended = { id: 3, name: 'build', conclusion: 'success', branch: 'main', default_branch: 'main' };
    const repository = { id: 2, ...REPO };
    const event = { kind: 'ci.changed' as const, installation_id: 1, repository, head_sha: HEAD, ended };
    const levelWith = async (...shas: string[]) => {
      const reader: Pick<GitHubReader, 'branchTip' | 'history'> = {
        branchTip: async () => shas[0],
        history: async () => shas.map((sha) => ({ sha }) as Commit),
      };
      const context = readTrustContext(
        reader as GitHubReader,
        REPO,
        subject({ pullRequest: null, headSha: HEAD, event }),
      );
      return trustOf(await context).level;
    };
    expect([
      await levelWith(HEAD),
      await levelWith('b', HEAD),
      await levelWith('b', 'c'),
      await levelWith(),
    ]).toEqual(['standard', 'standard', 'sandbox', 'sandbox']);
  });

  test('are empty for a run about nothing that is known', async () => {
    const { reader } = github({}, {});
    const context = await readTrustContext(reader, REPO, subject({ pullRequest: null }));
    expect(trustOf(context).level).toBe('sandbox');
  });

  test('are not guessed while GitHub does not answer', async () => {
    const { reader } = github(own('NONE'), {});
    await expect(readTrustContext(reader, REPO, subject())).rejects.toThrow('not now');
  });
});
