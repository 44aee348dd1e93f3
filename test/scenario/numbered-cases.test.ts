// @module-tag slow
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the code under review
import { expect, test } from 'vitest';
import { fake } from '../analyzers/support.ts';
import { REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  GREETING,
  headline,
  open,
  ownCheck,
  pushAgain,
  react,
  readable,
  reportCi,
  start,
  statusOf,
} from './support.ts';

const ORDERS = `import { db } from './db.ts';

export function orders() {
  return db.query('SELECT * FROM orders');
}
`;

/** The errors are in lines 4 and 11 of the orders, 9 of the workflow and 2 of the settings. */
const RISKY = {
  'src/orders.ts': `import { db } from './db.ts';

export async function orderOf(id: string) {
  const rows = await db.query(\`SELECT * FROM orders WHERE id = '\${id}'\`);
  return rows[0];
}

export async function notify(id: string) {
  try {
    await db.notify(id);
  } catch {}
}
`,
  '.github/workflows/greet.yml': `name: greet
on: issues
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - run: |
          echo "Hello"
          echo "\${{ github.event.issue.title }}"
`,
  'config/deploy.env': `# deploy\nDEPLOY_TOKEN=${fake('ghp_', 'wWPw5k4aXcaT4fNP0Uc', 'nZwJUVFk6LO0pINUx')}\n`,
};

test('1: a clean change is approved, passes CI, is shown to the maintainers and merged on a countersign', async () => {
  const harness = await start();
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await harness.advance(1_000);

  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  await harness.advance(2 * A_RECHECK);
  expect(github.comments(REPO, number)).toHaveLength(1);
  expect(readable(harness, approvalOf(harness, number).body, { head: headSha })).toMatchInlineSnapshot(`
    "<!-- countersign:approval head=<head> base=main -->
    <!-- countersign:question id=apr_1 -->
    ### ✍️ Approve this merge?

    Once approved, commit \`<head>\` is **squash-merged** into \`main\`.

    #### What was checked

    - ✅ **Review (analyzers only, no language model):** approved: no findings in 1 file
    - ✅ **CI:** the only check passed
    - ✅ **Artifacts:** 3 of 3 expected artifacts are there

    #### What is missing

    - ⏳ nobody has countersigned yet

    #### How to answer

    React to this comment with 🚀 or 👍 to merge, or with 👎 to reject.

    **Who may answer:** anybody with maintain access or more. One countersign is needed. The author, anybody who committed, co-wrote or pushed one of the commits, and bots cannot answer.

    This request and its answers expire with a push, another base branch, a return to draft, or when the pull request is closed.

    <sub>Chain \`pr-review\` for \`<head>\` · [details](https://github.test/octo/app/runs/52000000001) · last change seen 2026-03-02 09:00 UTC</sub>"
  `);

  await countersign(harness, number);

  expect(github.pullRequest(REPO, number)).toMatchObject({ merged: true, mergeMethod: 'squash' });
  expect(github.commit(REPO, 'main')).toMatchObject({
    message: `Greet people by name (#${number})`,
    author: 'ada',
  });
  const commits = { head: headSha, merged: github.branch(REPO, 'main') ?? '' };
  expect(github.comments(REPO, number)).toHaveLength(1);
  expect(readable(harness, approvalOf(harness, number).body, commits)).toMatchInlineSnapshot(`
    "<!-- countersign:approval head=<head> base=main -->
    <!-- countersign:question id=apr_1 -->
    ### 🎉 Countersigned and merged

    Commit \`<head>\` was squash-merged into \`main\` as \`<merged>\`, countersigned by \`mia\`.

    - ✅ **Review (analyzers only, no language model):** approved: no findings in 1 file
    - ✅ **CI:** the only check passed
    - ✅ **Artifacts:** 3 of 3 expected artifacts are there

    <sub>Chain \`pr-review\` for \`<head>\` · [details](https://github.test/octo/app/runs/52000000001)</sub>"
  `);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  expect(readable(harness, ownCheck(harness, headSha).summary ?? '', commits)).toMatchInlineSnapshot(`
    "### Why

    Merged into main as <merged>, countersigned by mia.

    - ✅ review: No findings in 1 file.
    - ✅ ci: the only check passed
    - ✅ merge: merged into main as <merged>, countersigned by mia
      - ✅ the pull request is open
      - ✅ it is not a draft
      - ✅ the head is still <head>
      - ✅ the base is still main
      - ✅ countersigned by mia
        - ✅ mia may countersign and did
      - ✅ nobody who may countersign rejects it
      - ✅ ci: the only check passed
      - ✅ every condition of the step still holds
      - ✅ nobody who can write requests changes
      - ✅ not paused

    ### Review: approved

    Round 1: 1 file reviewed at \`<head>\`.

    Nothing was found.

    <sub>Checked by secrets <version>, data-flow <version>, oxlint <version>, ast-grep <version>.</sub>

    <sub>No language model is configured, so none was asked.</sub>

    ### CI: the only check passed

    | | Check | Result | Took |
    |---|---|---|---:|
    | ✅ | [test](https://github.test/octo/app/runs/52000000003) | success | 0 ms |

    ### Steps

    | | Step | State | Why | Took |
    |---|---|---|---|---:|
    | ✅ | \`review\` | done | No findings in 1 file. | 0 ms |
    | ✅ | \`ci\` | done | the only check passed | 250 ms |
    | ✅ | \`merge\` | done | merged into main as <merged>, countersigned by mia | 15 s |

    ### Expected artifacts: passed

    | | Step | Expected | Produced |
    |---|---|---|---|
    | ✅ | \`review\` | \`outcome review_verdict\` | recorded |
    | ✅ | \`review\` | \`analyzers.log\` | <file> |
    | ✅ | \`ci\` | \`outcome ci_result\` | recorded |"
  `);
});

test('2: a risky change gets its findings on their lines, and no reaction merges it', async () => {
  const harness = await start({ files: { 'src/orders.ts': ORDERS } });
  const { github } = harness;
  const { number, headSha } = await open(harness, { title: 'Find one order', files: RISKY });
  await reportCi(harness, headSha, 'success');
  await harness.advance(10_000);

  const check = ownCheck(harness, headSha);
  expect(checkLines(harness, headSha)).toMatchInlineSnapshot(`
    [
      "failure: Changes requested: 3 critical, 1 medium",
    ]
  `);
  expect(
    check.annotations.map(({ path, startLine, level, title }) => `${path}:${startLine} ${level} ${title}`),
  ).toMatchInlineSnapshot(`
    [
      ".github/workflows/greet.yml:9 failure critical: injection (actionlint/script-injection)",
      "config/deploy.env:2 failure critical: secret (secrets/github)",
      "src/orders.ts:4 failure critical: injection (ast-grep/sql-injection)",
      "src/orders.ts:11 warning medium: error-handling (ast-grep/swallowed-error)",
    ]
  `);
  expect(readable(harness, check.summary ?? '', { head: headSha })).toMatchInlineSnapshot(`
    "**Next:** Push a fix, and Countersign reviews the new commit. If a finding is intended, somebody who may countersign accepts it: \`/countersign accept <finding> because <reason>\`.

    ### Why

    Not merged: review: 3 critical findings in 3 files must be fixed first; 1 medium finding can wait.

    - ❌ review: 3 critical findings in 3 files must be fixed first; 1 medium finding can wait.
      - ❌ critical: Text that any outsider can write is pasted into a script before the shell sees it, so it runs as a command with the workflow's token. (\`.github/workflows/greet.yml:9\`, \`finding c6385d90\`)
      - ❌ critical: A GitHub token is committed; everyone who can read the repository can act with it. (\`config/deploy.env:2\`, \`finding 68f1edc8\`)
      - ❌ critical: An SQL statement is put together from text and values, so a value can change the statement. (\`src/orders.ts:4\`, \`finding 0d1d2d6d\`)
    - ❌ ci was skipped because the review did not pass
    - ❌ merge was skipped because the review did not pass

    ### Review: changes requested

    Round 1: 3 files reviewed at \`<head>\`.

    | 🔴 critical | 🟠 high | 🟡 medium | 🔵 low | ⚪ info |
    |---:|---:|---:|---:|---:|
    | 3 | 0 | 1 | 0 | 0 |

    By kind: secret 1, injection 2, error-handling 1.

    #### Must be fixed

    - 🔴 **critical** · injection · \`.github/workflows/greet.yml:9\`<br>
      Text that any outsider can write is pasted into a script before the shell sees it, so it runs as a command with the workflow's token.<br>
      \`echo "\${{ github.event.issue.title }}"\`<br>
      **Fix:** Pass it through \`env:\` and use it as a quoted variable, as in \`env: {TITLE: "\${{ … }}"}\` and \`"$TITLE"\`.<br>
      <sub>actionlint/script-injection · \`c6385d90\`</sub>
    - 🔴 **critical** · secret · \`config/deploy.env:2\`<br>
      A GitHub token is committed; everyone who can read the repository can act with it.<br>
      \`DEPLOY_TOKEN=[redacted: GitHub token]\`<br>
      **Fix:** Revoke the token in GitHub's settings now, and read a new one from the environment or a secret store.<br>
      <sub>secrets/github · \`68f1edc8\`</sub>
    - 🔴 **critical** · injection · \`src/orders.ts:4\`<br>
      An SQL statement is put together from text and values, so a value can change the statement.<br>
      \`\`const rows = await db.query(\`SELECT * FROM orders WHERE id = '\${id}'\`);\`\`<br>
      **Fix:** Pass the values as parameters (\`?\` or \`$1\`) of the query.<br>
      <sub>ast-grep/sql-injection · \`0d1d2d6d\`</sub>

    <details><summary>1 suggestion: 1 medium</summary>

    - 🟡 **medium** · error-handling · \`src/orders.ts:11\`<br>
      An error is caught and thrown away, so nobody will know that it happened.<br>
      \`} catch {}\`<br>
      **Suggestion:** Handle it, log it or let it pass; where nothing is right, say in a comment why.<br>
      <sub>ast-grep/swallowed-error · \`b64f7ae7\`</sub>

    </details>

    <sub>Checked by secrets <version>, data-flow <version>, oxlint <version>, ast-grep <version>, actionlint <version>.</sub>

    <sub>No language model is configured, so none was asked.</sub>

    ### Steps

    | | Step | State | Why | Took |
    |---|---|---|---|---:|
    | ❌ | \`review\` | not passed | 3 critical findings in 3 files must be fixed first; 1 medium finding can wait. | 0 ms |
    | ⏭️ | \`ci\` | skipped | the review did not pass |  |
    | ⏭️ | \`merge\` | skipped | the review did not pass |  |

    ### Expected artifacts: passed

    | | Step | Expected | Produced |
    |---|---|---|---|
    | ✅ | \`review\` | \`outcome review_verdict\` | recorded |
    | ✅ | \`review\` | \`analyzers.log\` | <file> |
    | ⏭️ | \`ci\` | \`outcome ci_result\` | the step was skipped |"
  `);
  expect(JSON.stringify([check, github.comments(REPO, number)])).not.toContain('wWPw5k4aXcaT4fNP0Uc');

  expect(approvals(harness, number)).toEqual([]);
  expect(github.comments(REPO, number).map(headline)).toMatchInlineSnapshot(`
    [
      "🔧 Changes requested: 3 critical, 1 medium",
    ]
  `);
  for (const { id } of github.comments(REPO, number)) {
    for (const login of ['ada', 'otto', 'mia']) await github.react(REPO, id, login, 'rocket');
  }
  await github.comment(REPO, number, 'ada', 'Please merge this.');
  await harness.advance(600_000);
  expect(github.merges).toEqual([]);
  expect(github.pullRequest(REPO, number).state).toBe('open');
});

test('3: a push voids the earlier countersign, and the new head is merged on its own', async () => {
  const harness = await start();
  const { github } = harness;
  const { number, headSha: first } = await open(harness);
  await reportCi(harness, first, 'success');
  await react(harness, number, 'mia');
  const second = await pushAgain(harness, GREETING.replace('Hello', 'Good morning'));
  await harness.advance(10_000);

  expect(checkLines(harness, first)).toEqual(['cancelled: Superseded by a newer push']);
  expect(headline(approvalOf(harness, number))).toBe('⏳ Waiting for CI: no check has reported yet');

  await reportCi(harness, second, 'success');
  await harness.advance(20_000);
  expect(github.merges).toEqual([]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  expect(ownCheck(harness, second).summary).toContain('Round 2');

  await countersign(harness, number, 'max');
  expect(github.merges).toMatchObject([{ number, headSha: second, method: 'squash' }]);
  expect(checkLines(harness, second)).toEqual(['success: Merged: countersigned by max']);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '🎉 Countersigned and merged']);
  expect(github.comments(REPO, number)).toHaveLength(2);
});

test('4: while CI is red nobody is asked, and once it is green the maintainers are asked', async () => {
  const harness = await start();
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'failure');
  await harness.advance(20_000);

  expect(approvals(harness, number)).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['failure: CI has not passed: 1 of 1 check failed']);
  expect(readable(harness, statusOf(harness, number).body, { head: headSha })).toMatchInlineSnapshot(`
    "<!-- countersign:status -->
    ### ❌ CI has not passed: 1 of 1 check failed

    - ✅ \`review\` No findings in 1 file.
    - ❌ \`ci\` 1 of 1 check failed: test
    - ⏭️ \`merge\` skipped

    **Next:** Push a fix, or run the checks again. This continues once they pass.

    <sub>Chain \`pr-review\` for \`<head>\` · [details](https://github.test/octo/app/runs/52000000001)</sub>"
  `);

  await reportCi(harness, headSha, 'pending');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toEqual([]);
  expect(checkLines(harness, headSha).at(-1)).toBe('in_progress: Waiting for CI: 0 of 1 checks are done');

  await reportCi(harness, headSha, 'success');
  expect(checkLines(harness, headSha).at(-1)).toBe('in_progress: Waiting for a maintainer to countersign');
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha).at(-1)).toBe('success: Merged: countersigned by mia');
  expect(github.comments(REPO, number)).toHaveLength(2);
});
