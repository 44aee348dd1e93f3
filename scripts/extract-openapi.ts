/**
 * Makes `test/support/openapi/github.openapi.json`: the part of GitHub's OpenAPI description about the
 * *requests* of this app. The tests validate every request against it, offline.
 *
 * The description is too large for a dependency (385 MB with its variants). So you download it outside the
 * checkout, and only this extract is committed. To renew it, or after adding an operation below:
 *
 *     cd "$(mktemp -d)" && npm init -y && npm install @octokit/openapi@23.0.2
 *     node <checkout>/scripts/extract-openapi.ts node_modules/@octokit/openapi/generated/api.github.com.json
 *
 * That file contains `$ref`s; its larger `.deref.json` gives the same extract. Both are OpenAPI 3.0; the
 * package has no 3.1 variant.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json } from '../src/core/canonical.ts';

type JsonObject = { [key: string]: Json };

const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{pull_number}`;
const COMMIT = `${REPO}/commits/{ref}`;
const ISSUE = `${REPO}/issues/{issue_number}`;
const COMMENT = `${REPO}/issues/comments/{comment_id}`;
const CHECK_RUN = `${REPO}/check-runs/{check_run_id}`;

/**
 * Every operation that the app may use. A request to any other fails the tests until somebody adds it here.
 */
const OPERATIONS = [
  'GET /app',
  'GET /app/installations',
  'GET /app/installations/{installation_id}',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /app/hook/config',
  'GET /app/hook/deliveries',
  'GET /app/hook/deliveries/{delivery_id}',
  'POST /app/hook/deliveries/{delivery_id}/attempts',
  'GET /installation/repositories',
  'GET /orgs/{org}/teams/{team_slug}/members',
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}',
  'GET /user',
  'GET /user/installations',
  'GET /user/installations/{installation_id}/repositories',
  'GET /users/{username}',
  'GET /rate_limit',
  `GET ${REPO}`,
  `GET ${REPO}/installation`,
  `GET ${REPO}/activity`,
  `GET ${REPO}/collaborators`,
  `GET ${REPO}/collaborators/{username}/permission`,
  `GET ${REPO}/contents/{path}`,
  `GET ${REPO}/git/trees/{tree_sha}`,
  `POST ${REPO}/git/trees`,
  `GET ${REPO}/git/blobs/{file_sha}`,
  `GET ${REPO}/git/ref/{ref}`,
  `DELETE ${REPO}/git/refs/{ref}`,
  `POST ${REPO}/git/refs`,
  `GET ${REPO}/git/commits/{commit_sha}`,
  `POST ${REPO}/git/commits`,
  `POST ${REPO}/merges`,
  `GET ${REPO}/compare/{basehead}`,
  `GET ${REPO}/branches/{branch}`,
  `GET ${REPO}/rules/branches/{branch}`,
  `GET ${REPO}/commits`,
  `GET ${COMMIT}`,
  `GET ${COMMIT}/check-runs`,
  `GET ${COMMIT}/check-suites`,
  `GET ${COMMIT}/status`,
  `GET ${COMMIT}/statuses`,
  `GET ${REPO}/actions/runs/{run_id}/jobs`,
  `GET ${REPO}/actions/artifacts`,
  `GET ${REPO}/actions/artifacts/{artifact_id}/{archive_format}`,
  `GET ${REPO}/pulls`,
  `POST ${REPO}/pulls`,
  `PUT ${PULL}/update-branch`,
  `POST ${REPO}/statuses/{sha}`,
  `GET ${REPO}/releases`,
  `GET ${REPO}/releases/tags/{tag}`,
  `POST ${REPO}/releases`,
  `POST ${REPO}/actions/workflows/{workflow_id}/dispatches`,
  `GET ${REPO}/actions/workflows/{workflow_id}/runs`,
  `GET ${REPO}/actions/runs/{run_id}`,
  `GET ${REPO}/actions/runs/{run_id}/artifacts`,
  `GET ${PULL}`,
  `GET ${PULL}/files`,
  `GET ${PULL}/commits`,
  `GET ${PULL}/requested_reviewers`,
  `POST ${PULL}/requested_reviewers`,
  `GET ${PULL}/reviews`,
  `PATCH ${REPO}/pulls/comments/{comment_id}`,
  `POST ${PULL}/reviews`,
  `GET ${PULL}/comments`,
  `POST ${PULL}/comments/{comment_id}/replies`,
  `PUT ${PULL}/merge`,
  `POST ${REPO}/check-runs`,
  `GET ${CHECK_RUN}`,
  `PATCH ${CHECK_RUN}`,
  `GET ${CHECK_RUN}/annotations`,
  `GET ${REPO}/assignees/{assignee}`,
  `GET ${REPO}/milestones`,
  `GET ${REPO}/issues`,
  `POST ${REPO}/issues`,
  `GET ${ISSUE}`,
  `PATCH ${ISSUE}`,
  `POST ${ISSUE}/assignees`,
  `GET ${ISSUE}/comments`,
  `POST ${ISSUE}/comments`,
  `GET ${ISSUE}/labels`,
  `POST ${ISSUE}/labels`,
  `DELETE ${ISSUE}/labels/{name}`,
  `GET ${COMMENT}`,
  `PATCH ${COMMENT}`,
  `GET ${COMMENT}/reactions`,
  `POST ${COMMENT}/reactions`,
  `DELETE ${COMMENT}/reactions/{reaction_id}`,
];

/** Keywords for people, or ones that would change a request instead of validating it (`default`). */
const PROSE = new Set([
  'title',
  'description',
  'example',
  'examples',
  'default',
  'deprecated',
  'externalDocs',
]);
/** Keywords whose value is copied. */
const ASSERTIONS = new Set([
  ...['type', 'nullable', 'enum', 'format', 'pattern', 'required', 'uniqueItems'],
  ...[
    'minimum',
    'maximum',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
  ],
]);
const HOLDS_ONE = new Set(['items', 'not', 'additionalProperties']);
const HOLDS_LIST = new Set(['allOf', 'anyOf', 'oneOf']);

function main(): void {
  const source = process.argv[2];
  if (source === undefined) {
    process.stderr.write('usage: node scripts/extract-openapi.ts <path of api.github.com.json>\n');
    process.exitCode = 2;
    return;
  }
  const target = fileURLToPath(new URL('../test/support/openapi/github.openapi.json', import.meta.url));
  const text = writeExtract(extract(object(JSON.parse(readFileSync(source, 'utf8')), 'the description')));
  writeFileSync(target, text);
  process.stdout.write(`${OPERATIONS.length} operations, ${Buffer.byteLength(text)} bytes: ${target}\n`);
}

function extract(description: JsonObject): {
  openapi: Json;
  info: JsonObject;
  paths: Record<string, JsonObject>;
} {
  const info = object(description.info, 'info');
  const all = object(description.paths, 'paths');
  const paths: Record<string, JsonObject> = {};
  for (const operation of OPERATIONS) {
    const [method = '', path = ''] = operation.split(' ');
    const item = object(all[path], path);
    const described = object(item[method.toLowerCase()], operation);
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      parameters: [...list(item.parameters ?? []), ...list(described.parameters ?? [])].flatMap((entry) =>
        parameter(description, entry),
      ),
      ...body(description, described.requestBody),
    };
  }
  return {
    openapi: description.openapi ?? '',
    info: {
      title: "Requests of GitHub's REST API, an extract made by scripts/extract-openapi.ts. Do not edit.",
      version: info.version ?? '',
      license: info.license ?? '',
      'x-source': 'https://github.com/octokit/openapi, Copyright (c) 2020 Octokit contributors',
    },
    paths,
  };
}

/** A path or query parameter. Headers and cookies belong to the HTTP client, not to the operation. */
function parameter(description: JsonObject, entry: Json): JsonObject[] {
  const given = resolve(description, entry);
  if (given.in !== 'path' && given.in !== 'query') return [];
  return [
    {
      name: given.name ?? '',
      in: given.in,
      ...(given.required === true && { required: true }),
      ...(given['x-multi-segment'] === true && { 'x-multi-segment': true }),
      schema: slim(description, given.schema ?? {}),
    },
  ];
}

function body(description: JsonObject, entry: Json | undefined): JsonObject {
  if (entry === undefined) return {};
  const given = resolve(description, entry);
  const media = object(object(given.content, 'content')['application/json'], 'application/json');
  const schema = slim(description, media.schema ?? {});
  return { requestBody: { required: given.required === true, content: { 'application/json': { schema } } } };
}

/**
 * The schema with references resolved and prose removed. An unknown keyword stops the script: dropping it
 * silently would weaken the validator unnoticed.
 */
function slim(description: JsonObject, entry: Json): Json {
  if (typeof entry === 'boolean') return entry;
  const slimmed: JsonObject = {};
  for (const [keyword, value] of Object.entries(resolve(description, entry))) {
    if (PROSE.has(keyword) || keyword.startsWith('x-')) continue;
    if (ASSERTIONS.has(keyword)) slimmed[keyword] = value;
    else if (HOLDS_ONE.has(keyword)) slimmed[keyword] = slim(description, value);
    else if (HOLDS_LIST.has(keyword)) slimmed[keyword] = list(value).map((item) => slim(description, item));
    else if (keyword === 'properties') {
      slimmed.properties = Object.fromEntries(
        Object.entries(object(value, keyword)).map(([name, member]) => [name, slim(description, member)]),
      );
    } else throw new Error(`unknown schema keyword ${keyword}: decide what it means for a request`);
  }
  return withNull(slimmed);
}

/** `nullable` says nothing beside `oneOf` without a `type`, as for an issue's milestone: `null` becomes one of the alternatives. */
function withNull(schema: JsonObject): JsonObject {
  const { nullable, ...others } = schema;
  if (nullable !== true || schema.type !== undefined) return schema;
  if (!others.oneOf) throw new Error('a schema is nullable and says neither its type nor alternatives');
  return { ...others, oneOf: [...list(others.oneOf), { type: 'string', nullable: true, enum: [null] }] };
}

/** Follows `#/components/…`. Recursive schemas would overflow the stack, but none of our requests has one. */
function resolve(description: JsonObject, entry: Json): JsonObject {
  const given = object(entry, 'an entry');
  if (typeof given.$ref !== 'string') return given;
  const names = given.$ref.replace(/^#\//, '').split('/');
  let found: Json = description;
  for (const name of names) found = object(found, given.$ref)[name] ?? null;
  return resolve(description, found);
}

/**
 * One operation per line: the diff of a renewed extract stays readable, at a quarter of the indented size.
 */
function writeExtract(extracted: ReturnType<typeof extract>): string {
  const paths = Object.entries(extracted.paths).map(([path, item]) => {
    const methods = Object.entries(item).map(
      ([method, operation]) => `      ${JSON.stringify(method)}: ${JSON.stringify(operation)}`,
    );
    return `    ${JSON.stringify(path)}: {\n${methods.join(',\n')}\n    }`;
  });
  return `{
  "openapi": ${JSON.stringify(extracted.openapi)},
  "info": ${JSON.stringify(extracted.info)},
  "paths": {
${paths.join(',\n')}
  }
}
`;
}

function object(value: Json | undefined, name: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Error(`the description has no ${name}, or it is not an object`);
  }
  return value;
}

function list(value: Json): Json[] {
  if (!Array.isArray(value)) throw new Error('expected a list in the description');
  return value;
}

main();
