import type { JobKind, NewJob } from '../../src/ports/jobs.ts';

/** A job whose payload nobody parses: a queue passes payloads on unchanged. */
export function rawJob(job: {
  kind: JobKind;
  key: string;
  payload: unknown;
  runAt?: Date;
  coalesce?: boolean;
}): NewJob {
  return job as NewJob;
}
