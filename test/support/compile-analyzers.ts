import { compileAnalyzers, KEPT_CODE } from '../../src/analyzers/compiled-code.ts';

/** Once for all tests: hundreds of processes load the analyzers, and take half as long if these are compiled. */
export default async function compileOnce(): Promise<void> {
  await compileAnalyzers(KEPT_CODE, () => {});
}
