// Adds one to a number 200 times, each in a transaction that reads before it writes. Argument: the database's URL.
import { openStorage } from '../../src/composition/storage.ts';

const storage = await openStorage(process.argv[2] ?? '');
const row = {
  repositoryId: 1,
  number: 1,
  repository: 'a/b',
  pausedBy: null,
  headSha: null,
  previousHeadSha: null,
  headSeenAt: null,
  updatedAt: new Date(0),
};
await storage.transaction((tx) => tx.pullRequests.upsert({ ...row, installationId: 0 }));
process.stdout.write('ready\n');
for (let n = 0; n < 200; n++) {
  await storage.transaction(async (tx) => {
    const found = await tx.pullRequests.get(1, 1);
    await tx.pullRequests.upsert({ ...row, installationId: (found?.installationId ?? 0) + 1 });
  });
}
await storage.close();
