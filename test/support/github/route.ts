/**
 * A request's name without what differs between pull requests: `GET /repos/{owner}/{repo}/pulls/{number}`. Paths of files stay as
 * they are, because the app reads each for a reason of its own.
 */
export function routeOf({ method, path }: { method: string; path: string }): string {
  const [pathname = ''] = path.split('?');
  const template = pathname
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{owner}/{repo}')
    .replace(/\/collaborators\/[^/]+/, '/collaborators/{login}')
    .replace(/\/[0-9a-f]{40}(?=\/|$)/g, '/{sha}')
    .replace(/\/\d+(?=\/|$)/g, '/{number}');
  return `${method} ${template}`;
}
