/**
 * The key of all jobs about one pull request, so that they run one after the other. A file of its own, because
 * the intake thread must not load the schemas of all jobs.
 */
export function pullRequestKey(repositoryId: number, pullRequest: number): string {
  return `pr:${repositoryId}#${pullRequest}`;
}
