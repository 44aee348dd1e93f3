/** The paths of REST that show what a query about a pull request shows. */
export function sameInRest(query: string, variables: Readonly<Record<string, unknown>>): string[] {
  const { owner, name, number, head, comments } = variables;
  const repository = `/repos/${owner}/${name}`;
  const pull = `${repository}/pulls/${number}`;
  const commit = `${repository}/commits/${head}`;
  const ids = (Array.isArray(comments) ? comments : []).map((id) =>
    Buffer.from(String(id), 'base64').toString().replace(/^\w+:/, ''),
  );
  return [
    ...(query.includes('reviews(')
      ? [pull, `${pull}/reviews?per_page=100`, `${pull}/commits?per_page=100`]
      : []),
    ...(query.includes('organisation:') ? [`/repos/${owner}/.github`] : []),
    ...(query.includes('checkSuites(')
      ? [
          `${commit}/check-runs?filter=latest&per_page=100`,
          `${commit}/check-suites?per_page=100`,
          `${commit}/status?per_page=100`,
        ]
      : []),
    ...ids.flatMap((id) => [
      `${repository}/issues/comments/${id}`,
      `${repository}/issues/comments/${id}/reactions?per_page=100`,
    ]),
  ];
}
