import { describe, expect, it, onTestFinished } from 'vitest';
import { appClientOf } from '../stand-in/support.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import type { Assertion } from './assertion.ts';
import { conversation } from './assertions/conversation.ts';
import { pulls } from './assertions/pulls.ts';
import { Scratch } from './scratch.ts';
import { MARKER, readSettings, refusal } from './settings.ts';
import { needApp, Unavailable } from './target.ts';
import { leftoversOf, openReal } from './targets.ts';

const NAMED = {
  COUNTERSIGN_CONFORMANCE_REPOSITORY: 'acme/shop',
  COUNTERSIGN_CONFORMANCE_TOKEN: 'secret',
};

/** A GitHub that the suite knows only by its address and a token, as it would know the real one. */
async function startElsewhere(files: Record<string, string> = {}) {
  const github = await startGitHub();
  onTestFinished(() => github.stop());
  github.addOrganization('acme');
  github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n', ...files } });
  const installation_id = github.installApp('acme');
  const { data } = await appClientOf(github).apps.createInstallationAccessToken({ installation_id });
  const environment = {
    ...NAMED,
    COUNTERSIGN_CONFORMANCE_TOKEN: data.token,
    GITHUB_API_URL: `${github.url}/`,
  };
  return { github, environment };
}

async function openOn(environment: Record<string, string>) {
  const settings = readSettings(environment);
  if (!settings) throw new Error('No repository is named.');
  return (await openReal(settings)).target;
}

function assertionThat(assertions: readonly Assertion[], words: string): Assertion {
  const found = assertions.find(({ claim }) => claim.includes(words));
  if (!found) throw new Error(`No assertion says ${words}.`);
  return found;
}

/** The default branch before the test; nobody may write to it. */
const tipOf = (github: GitHubStandIn) => github.branch('acme/shop', 'main');

describe('the settings of the conformance suite', () => {
  it('name no real repository by default', () => {
    expect(readSettings({})).toBeUndefined();
  });

  it.each([
    ['owner/name', { ...NAMED, COUNTERSIGN_CONFORMANCE_REPOSITORY: 'acme' }],
    ['COUNTERSIGN_CONFORMANCE_TOKEN is missing', { COUNTERSIGN_CONFORMANCE_REPOSITORY: 'acme/shop' }],
    ['COUNTERSIGN_CONFORMANCE_PRIVATE_KEY', { ...NAMED, COUNTERSIGN_CONFORMANCE_APP_ID: '1' }],
    ['COUNTERSIGN_CONFORMANCE_APP_ID', { ...NAMED, COUNTERSIGN_CONFORMANCE_PRIVATE_KEY: 'key' }],
  ])('that are invalid are refused with %s', (words, environment) => {
    expect(() => readSettings(environment)).toThrow(words);
  });

  it.each([
    ['another repository', 'acme/other', false, true],
    ['this repository', 'acme/shop', false, false],
    ['nothing, while the marker exists', undefined, true, false],
  ])('decide about writes by the confirmation of %s', (_, confirmation, hasMarker, refused) => {
    const settings = readSettings({
      ...NAMED,
      ...(confirmation ? { COUNTERSIGN_CONFORMANCE_CONFIRM: confirmation } : {}),
    });
    if (!settings) throw new Error('No repository is named.');
    expect(refusal(settings, hasMarker) !== undefined).toBe(refused);
  });
});

describe('a real repository', () => {
  it('gets no writes without a confirmation', async () => {
    const { github, environment } = await startElsewhere();
    await expect(openOn(environment)).rejects.toThrow('Nobody agreed that the suite may write to acme/shop');
    expect(github.requests.filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });

  it('with the marker file gets writes to the suite’s own branches only, and is left as it was', async () => {
    const { github, environment } = await startElsewhere({ [MARKER]: '' });
    const before = tipOf(github);
    const target = await openOn(environment);
    const scratch = new Scratch(target);
    await assertionThat(pulls, 'every field').check({ ...target, scratch });
    await assertionThat(conversation, 'keeps its id').check({ ...target, scratch });
    expect((await leftoversOf(target)).length).toBeGreaterThan(0);
    expect(await scratch.leave()).toEqual([]);
    expect(await leftoversOf(target)).toEqual([]);
    expect(tipOf(github)).toBe(before);
    expect(github.comments('acme/shop', 1)).toEqual([]);
  });

  it('is not asked what only an App can do, without the credentials of an App', async () => {
    const { environment } = await startElsewhere({ [MARKER]: '' });
    const target = await openOn(environment);
    expect(() => needApp(target)).toThrow(Unavailable);
  });

  it('is not asked about required checks if the token cannot create rulesets', async () => {
    const { environment } = await startElsewhere({ [MARKER]: '' });
    const scratch = new Scratch(await openOn(environment));
    await expect(scratch.requireCheck(`${scratch.target.prefix}/x`, 'build')).rejects.toThrow(Unavailable);
  });

  it('keeps its other branches, because the suite writes only to its own', async () => {
    const { environment } = await startElsewhere({ [MARKER]: '' });
    const scratch = new Scratch(await openOn(environment));
    await expect(scratch.commit('main', 'x', 'x')).rejects.toThrow("none of the suite's own branches");
    await expect(scratch.requireCheck('main', 'build')).rejects.toThrow("none of the suite's own branches");
  });

  it('fails the suite if it merges another head than the named one', async () => {
    const { github, environment } = await startElsewhere({ [MARKER]: '' });
    const target = await openOn(environment);
    github.fail(({ path }) => path.endsWith('/merge'), {
      status: 200,
      body: { merged: true, sha: 'a'.repeat(40), message: '' },
    });
    const scratch = new Scratch({ ...target, pauseMs: 0 });
    const found = assertionThat(pulls, 'names another head').check({ ...target, scratch });
    await expect(found).rejects.toThrow('It was not refused');
  });
});
