import { expect } from 'vitest';
import {
  blobSchema,
  branchSchema,
  commitsSchema,
  fileSchema,
  folderSchema,
  repositorySchema,
  treeSchema,
} from '../../../src/adapters/octokit/answers.ts';
import { branchRulesSchema, protectionSchema } from '../../../src/adapters/octokit/check-answers.ts';
import type { Assertion, World } from '../assertion.ts';
import { refusalOf } from '../target.ts';

async function defaultBranch({ octokit, at }: World) {
  const { defaultBranch: name } = repositorySchema.parse((await octokit.repos.get(at)).data);
  const { data } = await octokit.repos.getBranch({ ...at, branch: name });
  return branchSchema.parse(data);
}

export const contents: readonly Assertion[] = [
  {
    claim: 'HEAD names the default branch for trees, contents and commits',
    async check(world) {
      const { octokit, at } = world;
      const tip = (await defaultBranch(world)).commit.sha;
      const byName = await octokit.git.getTree({ ...at, tree_sha: tip });
      expect((await octokit.git.getTree({ ...at, tree_sha: 'HEAD' })).data.sha).toBe(byName.data.sha);
      expect((await octokit.repos.getCommit({ ...at, ref: 'HEAD' })).data.sha).toBe(tip);
      expect((await octokit.repos.getContent({ ...at, path: '', ref: 'HEAD' })).status).toBe(200);
    },
  },
  {
    claim: 'a recursive tree lists every file with its size, and says that it is complete',
    async check(world) {
      const { headSha, head } = await world.scratch.shared();
      const { data } = await world.octokit.git.getTree({ ...world.at, tree_sha: headSha, recursive: 'true' });
      const tree = treeSchema.parse(data);
      expect(tree.truncated).toBe(false);
      expect(tree.tree).toContainEqual(
        expect.objectContaining({ path: `${head}.md`, type: 'blob', mode: '100644', size: 5 }),
      );
    },
  },
  {
    claim: 'a blob is in base64 and as long as it says',
    async check(world) {
      const { headSha, head } = await world.scratch.shared();
      const { data } = await world.octokit.repos.getContent({
        ...world.at,
        path: `${head}.md`,
        ref: headSha,
      });
      const file = fileSchema.parse(data);
      if (!file) throw new Error('It is no file.');
      const blob = blobSchema.parse(
        (await world.octokit.git.getBlob({ ...world.at, file_sha: file.sha })).data,
      );
      const bytes = Buffer.from(blob.content, 'base64');
      expect([bytes.toString(), blob.size]).toEqual(['head\n', bytes.byteLength]);
    },
  },
  {
    claim: 'a folder is a list of what is directly below it',
    async check(world) {
      const { headSha, head } = await world.scratch.shared();
      const [folder = ''] = head.split('/');
      const { data } = await world.octokit.repos.getContent({ ...world.at, path: folder, ref: headSha });
      expect(folderSchema.parse(data)?.map(({ path, type }) => `${type} ${path}`)).toEqual([
        `file ${head}.md`,
      ]);
    },
  },
  {
    claim: 'a path or ref that does not exist is a 404',
    async check({ octokit, at, prefix }) {
      const missing = (path: string, ref?: string) =>
        refusalOf(octokit.repos.getContent({ ...at, path, ...(ref ? { ref } : {}) }));
      expect((await missing(`${prefix}/none`)).status).toBe(404);
      expect((await missing('', `${prefix}/none`)).status).toBe(404);
      const branch = refusalOf(octokit.repos.getBranch({ ...at, branch: `${prefix}/none` }));
      expect((await branch).status).toBe(404);
    },
  },
  {
    claim: 'the history of a path has the commits that changed it, newest first',
    async check(world) {
      const { headSha, head } = await world.scratch.shared();
      const { data } = await world.octokit.repos.listCommits({
        ...world.at,
        sha: headSha,
        path: `${head}.md`,
      });
      expect(commitsSchema.parse(data).map(({ sha }) => sha)).toEqual([headSha]);
    },
  },
  {
    claim: 'a branch says whether it is protected, and its rules are a list',
    async check(world) {
      const { base } = await world.scratch.shared();
      const { data } = await world.octokit.repos.getBranch({ ...world.at, branch: base });
      expect(protectionSchema.parse(data).protection).toBeDefined();
      expect(data.protected).toEqual(expect.any(Boolean));
      const rules = await world.octokit.repos.getBranchRules({ ...world.at, branch: base });
      expect(branchRulesSchema.parse(rules.data)).toEqual(expect.any(Array));
    },
  },
];
