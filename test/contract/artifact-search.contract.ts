import { describe, expect, it } from 'vitest';
import { withHash } from '../../src/domain/outcome/base.ts';
import type { RunStatus } from '../../src/domain/run/run.ts';
import type { ArtifactSearch } from '../../src/ports/storage.ts';
import { Visible } from '../../src/ports/visible.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, runState, session } from '../support/rows.ts';

/** Which artifacts a search finds: stored, packed and archived ones alike. */
export function artifactSearchContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const everything = { visible: Visible.everything() };

  interface Given {
    second: number;
    repositoryId?: number;
    artifacts: { kind: string; name?: string; at?: number; passed?: boolean | null; verdict?: string }[];
  }

  async function insert(id: string, { second, repositoryId = 70, artifacts }: Given): Promise<void> {
    const over = {
      repositoryId,
      repository: repositoryId === 70 ? 'acme/rocket' : `acme/r${repositoryId}`,
      pullRequest: null,
      status: 'completed' as RunStatus,
      createdAt: at(second),
      updatedAt: at(second + 50),
      finishedAt: at(second + 50),
    };
    const state = runState(id, over);
    await db.storage.transaction(async (tx) => {
      await tx.runs.insert({
        ...state,
        invocations: state.invocations.map((step) => ({ ...step, status: 'completed' as const })),
      });
      await tx.runs.insertSession(session(`${id}-ses`, `${id}-inv0`, { status: 'completed' }));
      for (const [index, { kind, name = 'a', at: when = second, passed, verdict }] of artifacts.entries()) {
        const isBlob = passed === undefined;
        await tx.artifacts.insert({
          id: `${id}-${index}`,
          runId: id,
          invocationId: `${id}-inv0`,
          sessionId: `${id}-ses`,
          createdAt: at(when),
          kind,
          name,
          content: isBlob
            ? null
            : JSON.stringify(
                withHash({
                  outcome_kind: kind,
                  passed,
                  ...(verdict && { verdict }),
                  summary: 'x'.repeat(900),
                }),
              ),
          filePath: isBlob ? `${id}/${index}` : null,
        });
      }
    });
  }

  async function found(search: Partial<ArtifactSearch>): Promise<string[][]> {
    const { runs } = await db.storage.read.artifacts.search({ ...everything, ...search });
    return runs.map(({ artifacts }) => artifacts.map(({ id }) => id));
  }

  async function fill(): Promise<void> {
    await insert('r1', {
      second: 100,
      artifacts: [
        { kind: 'review_verdict', name: 'Round 1', passed: false, verdict: 'REQUEST_CHANGES' },
        { kind: 'log', name: 'Build.LOG', at: 110 },
      ],
    });
    await insert('r2', {
      second: 200,
      repositoryId: 71,
      artifacts: [{ kind: 'review_verdict', name: 'Round 1', passed: true, verdict: 'APPROVE' }],
    });
    await insert('r3', {
      second: 300,
      artifacts: [{ kind: 'ci_result', name: '100 %_ sure', passed: false }],
    });
    await insert('r4', { second: 400, artifacts: [{ kind: 'ci_result', name: 'CI', passed: null }] });
    await insert('r5', { second: 500, artifacts: [] });
  }

  const kept: [string, () => Promise<void>][] = [
    ['stored', async () => undefined],
    ['packed', () => db.storage.transaction(async (tx) => void (await tx.runs.packEnded(at(9_999), 100)))],
    [
      'archived',
      () => db.storage.transaction((tx) => tx.runs.archive(['r1', 'r2', 'r3', 'r4', 'r5'], at(9_999))),
    ],
  ];

  describe.each(kept)('a search for artifacts that are %s', (_, keep) => {
    const cases: [string, Partial<ArtifactSearch>, string[][]][] = [
      ['anything', {}, [['r4-0'], ['r3-0'], ['r2-0'], ['r1-1', 'r1-0']]],
      ['a kind', { kind: 'review_verdict' }, [['r2-0'], ['r1-0']]],
      ['what failed', { failed: true }, [['r3-0'], ['r1-0']]],
      ['a verdict', { verdict: 'REQUEST_CHANGES' }, [['r1-0']]],
      ['a kind that failed', { kind: 'review_verdict', failed: true }, [['r1-0']]],
      ['one repository', { repository: 'acme/r71' }, [['r2-0']]],
      ['a repository that there is not', { repository: 'acme/none' }, []],
      ['what is new', { since: at(105) }, [['r4-0'], ['r3-0'], ['r2-0'], ['r1-1']]],
      ['what is old', { until: at(105) }, [['r1-0']]],
      ['a text in a name, in any case', { text: 'build.log' }, [['r1-1']]],
      ['a text with the wildcards of SQL', { text: '0 %_ s' }, [['r3-0']]],
      ['a text that matches only as a wildcard', { text: '%CI' }, []],
      ['a text in a repository', { text: 'R71' }, [['r2-0']]],
      ['what somebody may see', { visible: Visible.only([71]) }, [['r2-0']]],
      ['what somebody may see who sees nothing', { visible: Visible.only([]) }, []],
    ];

    it.each(cases)('finds %s', async (_name, search, expected) => {
      await fill();
      await keep();
      expect(await found(search)).toEqual(expected);
    });

    it('says the result of an outcome, and none for a blob', async () => {
      await fill();
      await keep();
      const { runs } = await db.storage.read.artifacts.search({ ...everything, text: 'pr-review' });
      const results = runs.flatMap(({ artifacts }) =>
        artifacts.map(({ passed, verdict }) => [passed, verdict]),
      );
      expect(results).toEqual([
        [null, null],
        [false, null],
        [true, 'APPROVE'],
        [undefined, null],
        [false, 'REQUEST_CHANGES'],
      ]);
    });

    it('goes on where the page before ended', async () => {
      const ids = Array.from({ length: 45 }, (_n, index) => `p${String(index).padStart(2, '0')}`);
      for (const id of ids) await insert(id, { second: 100, artifacts: [{ kind: 'log' }] });
      await db.storage.transaction((tx) => tx.runs.archive(ids.slice(0, 10), at(9_999)));
      await keep();
      const pages: string[][] = [];
      let search: Partial<ArtifactSearch> | undefined = {};
      while (search) {
        const { runs, next } = await db.storage.read.artifacts.search({ ...everything, ...search });
        pages.push(runs.map(({ run }) => run.id));
        search = next && { after: next };
      }
      expect(pages.map(({ length }) => length)).toEqual([20, 20, 5]);
      expect(pages.flat()).toEqual(ids.toReversed());
    });
  });

  it('a search shows some of the artifacts of a run, and says that there are more', async () => {
    await insert('big', { second: 1, artifacts: Array.from({ length: 300 }, () => ({ kind: 'log' })) });
    const { runs } = await db.storage.read.artifacts.search(everything);
    expect(runs.map(({ artifacts, hasMore }) => [artifacts.length, hasMore])).toEqual([[20, true]]);
  });
}
