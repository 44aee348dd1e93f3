import { parentPort, workerData } from 'node:worker_threads';
import type { Analyze, SourceFile } from '../analyzer.ts';

const { module, files, config } = workerData as { module: string; files: SourceFile[]; config: unknown };
const { analyze } = (await import(module)) as { analyze: Analyze<unknown> };
parentPort?.postMessage(await analyze(files, config));
