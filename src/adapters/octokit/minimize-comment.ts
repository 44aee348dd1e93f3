import { z } from 'zod';
import type { Client } from './client.ts';

/** GitHub offers this only in GraphQL: https://docs.github.com/en/graphql/reference/mutations#minimizecomment */
const MINIMIZE = `mutation ($id: ID!) {
  minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) { clientMutationId }
}`;

/** The comment also says in words that it is outdated, so a refusal is not an error. */
export async function minimizeComment(client: Client, nodeId: string): Promise<void> {
  await client.mutate(MINIMIZE, { id: nodeId }, z.record(z.string(), z.unknown()));
}
