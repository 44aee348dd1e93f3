/**
 * A request's name without what differs between pull requests: `GET /repos/{owner}/{repo}/pulls/{number}`. Paths of files stay as
 * they are, because the app reads each for a reason of its own. Of a mutation, the name has the fields.
 */
export function routeOf({
  method,
  path,
  mutates,
}: {
  method: string;
  path: string;
  mutates?: readonly string[];
}): string {
  if (mutates) return `${method} ${path} ${mutates.join(' ')}`;
  const [pathname = ''] = path.split('?');
  const template = pathname
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{owner}/{repo}')
    .replace(/\/collaborators\/[^/]+/, '/collaborators/{login}')
    .replace(/\/[0-9a-f]{40}(?=\/|$)/g, '/{sha}')
    .replace(/\/\d+(?=\/|$)/g, '/{number}');
  return `${method} ${template}`;
}

/** Each write of a mutation by the name that it has in REST. */
const SAME_IN_REST: Readonly<Record<string, string>> = {
  createCheckRun: 'POST /repos/{owner}/{repo}/check-runs',
  updateCheckRun: 'PATCH /repos/{owner}/{repo}/check-runs/{number}',
  addComment: 'POST /repos/{owner}/{repo}/issues/{number}/comments',
  updateIssueComment: 'PATCH /repos/{owner}/{repo}/issues/comments/{number}',
};

/** The request's name, and those of the requests that write the same in REST. */
export function routesOf(request: Parameters<typeof routeOf>[0]): string[] {
  const writes = (request.mutates ?? []).flatMap((name) => SAME_IN_REST[name] ?? []);
  return [routeOf(request), ...writes];
}
