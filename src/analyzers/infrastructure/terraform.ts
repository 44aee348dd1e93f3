import type { InfrastructureRule, Weakness } from './found.ts';
import { type Attribute, type Block, eachBlock, readHcl } from './hcl.ts';

/** Whatever block they are in. */
const ATTRIBUTES: readonly (readonly [rule: InfrastructureRule, name: RegExp, value: RegExp])[] = [
  ['terraform-public-bucket', /^acl$/, /^"public-read(?:-write)?"/],
  [
    'terraform-public-bucket',
    /^(?:block_public_(?:acls|policy)|ignore_public_acls|restrict_public_buckets)$/,
    /^false\b/,
  ],
  ['terraform-public-bucket', /^(?:allow_blob_public_access|allow_nested_items_to_be_public)$/, /^true\b/],
  ['terraform-public-database', /^publicly_accessible$/, /^true\b/],
  [
    'terraform-unencrypted',
    /^(?:storage_encrypted|encrypted|at_rest_encryption_enabled|transit_encryption_enabled|encrypt_at_rest|enable_https_traffic_only|https_traffic_only_enabled)$/,
    /^false\b/,
  ],
  [
    'terraform-old-tls',
    /^(?:min_tls_version|minimum_tls_version|minimum_protocol_version)$/,
    /^"(?:TLS)?v?1[._][01]"|^"(?:SSLv3|TLSv1(?:_2016|\.1_2016)?)"/,
  ],
  ['terraform-old-metadata', /^http_tokens$/, /^"optional"/],
];

/** Ports by which machines and databases are administered. */
const ADMINISTRATION = [22, 3389, 5432, 3306, 1433, 6379, 27017, 9200, 2375, 5985];
const EVERYBODY = /"(?:0\.0\.0\.0\/0|::\/0)"/;

/** Finds what Terraform opens to everybody, leaves unencrypted, or allows without a limit. Pure. */
export function checkTerraform(text: string): Weakness[] {
  const found: Weakness[] = [];
  for (const block of eachBlock(readHcl(text))) {
    const known = new Set<InfrastructureRule>();
    for (const { name, value, line } of block.attributes) {
      const rule = ATTRIBUTES.find(([, names, values]) => names.test(name) && values.test(value))?.[0];
      // One for the whole block: four switches that belong together are one decision.
      if (rule && !known.has(rule)) found.push({ rule, line });
      if (rule) known.add(rule);
      if (allowsEverything(value))
        found.push({ rule: 'terraform-allows-everything', line: line + lineOfAction(value) });
    }
    found.push(...openPorts(block), ...documents(block));
  }
  return found.sort((a, b) => a.line - b.line);
}

function textOf(block: Block, name: string): string | undefined {
  return block.attributes.find((one) => one.name === name)?.value;
}

/** An ingress rule for everybody, to a port that is not meant for everybody. */
function openPorts(block: Block): Weakness[] {
  const isIngress =
    block.type === 'ingress' ||
    (block.labels[0] === 'aws_security_group_rule' && textOf(block, 'type') === '"ingress"') ||
    block.labels[0] === 'aws_vpc_security_group_ingress_rule';
  const isFirewall =
    block.labels[0] === 'google_compute_firewall' && textOf(block, 'direction') !== '"EGRESS"';
  const isAzure =
    /^azurerm_network_security_(?:rule|group)$/.test(block.labels[0] ?? '') || block.type === 'security_rule';
  if (!isIngress && !isFirewall && !isAzure) return [];
  const open = block.attributes.find((one) => isOpen(one, isAzure));
  if (!open) return [];
  const isReached = isIngress
    ? reaches(textOf(block, 'from_port'), textOf(block, 'to_port')) ||
      /^"(?:-1|all)"/.test(textOf(block, 'protocol') ?? textOf(block, 'ip_protocol') ?? '')
    : isFirewall
      ? block.blocks.some(
          ({ type, attributes }) =>
            type === 'allow' && attributes.some(({ name, value }) => name === 'ports' && portsIn(value)),
        )
      : /Inbound/i.test(textOf(block, 'direction') ?? '') &&
        /Allow/i.test(textOf(block, 'access') ?? '') &&
        portsIn(textOf(block, 'destination_port_range') ?? '');
  return isReached ? [{ rule: 'terraform-open-port', line: open.line }] : [];
}

function isOpen({ name, value }: Attribute, isAzure: boolean): boolean {
  if (isAzure) return name === 'source_address_prefix' && /^"(?:\*|0\.0\.0\.0\/0|Internet|any)"/i.test(value);
  return /^(?:cidr_blocks|ipv6_cidr_blocks|cidr_ipv[46]|source_ranges)$/.test(name) && EVERYBODY.test(value);
}

function reaches(from: string | undefined, to: string | undefined): boolean {
  const [low, high] = [Number(from), Number(to ?? from)];
  return (
    ADMINISTRATION.some((port) => port >= low && port <= high) ||
    (low === 0 && high === 0 && from !== undefined)
  );
}

/** `["22"]`, `"20-30"`, `"*"` */
function portsIn(value: string): boolean {
  return [...value.matchAll(/"(\d+|\*)(?:-(\d+))?"/g)].some(([, low = '', high]) =>
    low === '*' ? true : reaches(low, high ?? low) && low !== '0',
  );
}

/** A statement that allows any action on anything, as an object or as JSON. */
function allowsEverything(value: string): boolean {
  return statementsIn(value).some(
    (text) =>
      /\bEffect"?\s*[=:]\s*"Allow"/.test(text) &&
      /\bAction"?\s*[=:]\s*\[?\s*"\*"/.test(text) &&
      /\bResource"?\s*[=:]\s*\[?\s*"\*"/.test(text),
  );
}

/** The innermost objects. */
function statementsIn(value: string): string[] {
  return value.length > 100_000 ? [] : [...value.matchAll(/\{[^{}]*\}/g)].map(([text]) => text);
}

function lineOfAction(value: string): number {
  return value.slice(0, Math.max(0, value.search(/\bAction"?\s*[=:]\s*\[?\s*"\*"/))).split('\n').length - 1;
}

/** The same in a data source. */
function documents({ type, attributes }: Block): Weakness[] {
  if (type !== 'statement' || attributes.some(({ name, value }) => name === 'effect' && /Deny/.test(value)))
    return [];
  const all = (wanted: string) =>
    attributes.find(({ name, value }) => name === wanted && /^\[\s*"\*"/.test(value));
  const actions = all('actions');
  return actions && all('resources') ? [{ rule: 'terraform-allows-everything', line: actions.line }] : [];
}
