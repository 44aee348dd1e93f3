import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type YAMLMap,
} from 'yaml';
import type { InfrastructureRule, Weakness } from './found.ts';

/** They hold pods, or templates of pods. */
const WORKLOAD = /^(?:Pod|Deployment|StatefulSet|DaemonSet|ReplicaSet|Job|CronJob|ReplicationController)$/;
const ROLE = /^(?:Cluster)?Role$/;
const BINDING = /^(?:Cluster)?RoleBinding$/;

/** Capabilities by which a container gets out of itself, or reads and changes what belongs to others. */
const CAPABILITY =
  /^(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|NET_ADMIN|DAC_READ_SEARCH|BPF)$/i;
/** Folders and sockets of a host with which a container controls it. */
const HOST_PATH =
  /^\/(?:$|(?:etc|root|proc|sys|boot|dev|home|var\/lib\/(?:kubelet|docker)|var\/run|run)(?:\/|$)|var\/?$)/;
/** In them, but public, and the usual way to give a container the time and the authorities of its host. */
const PUBLIC_PATH =
  /^\/(?:etc\/(?:localtime|timezone|machine-id|os-release|hostname|ssl\/certs|pki\/(?:ca-trust|tls\/certs)|ca-certificates)|run\/log\/journal|dev\/(?:shm|dri|snd|u?random|null))(?:\/[\w-]+(?:\.\w+)?)*\/?$/;
const EVERYBODY = /^system:(?:unauthenticated|anonymous|authenticated)$/;

/** Whether a YAML file can hold resources of Kubernetes. Most hold none, and are not parsed. */
export function mayBeKubernetes(text: string): boolean {
  return /^apiVersion:/m.test(text) && /^kind:/m.test(text);
}

/** In characters. The parser takes quadratic time for some texts: 25 s for a template of 1 MB. */
const MAX_DOCUMENT = 100_000;
/** These are long, and start nothing. */
const LONG_BY_NATURE = /^kind: *["']?(?:CustomResourceDefinition|ConfigMap|Secret)["']?\s*$/m;

/** What fills it is not known, so it need not be YAML yet. */
const TEMPLATE = /\{\{/;

/**
 * Finds what a resource of Kubernetes may do that reaches beyond it. Pure.
 * @throws SyntaxError if the file is no YAML and no template, or has a document that is too long; RangeError if it is nested too deep
 */
export function checkKubernetes(text: string): Weakness[] {
  const found: Weakness[] = [];
  const isTemplate = TEMPLATE.test(text);
  let firstLine = 1;
  // One by one, so that what is long or broken costs no more than itself. A line of `---` always ends a document.
  for (const part of text.split(/^(?=---(?:\s|$))/m)) {
    if (part.includes('kind')) found.push(...inDocument(part, firstLine, isTemplate));
    firstLine += part.split('\n').length - 1;
  }
  return found;
}

function inDocument(text: string, firstLine: number, isTemplate: boolean): Weakness[] {
  if (text.length > MAX_DOCUMENT) {
    if (LONG_BY_NATURE.test(text)) return [];
    throw new SyntaxError(`a document of it has over ${MAX_DOCUMENT.toLocaleString('en')} characters`);
  }
  const lines = new LineCounter();
  const found: Weakness[] = [];
  const report = (rule: InfrastructureRule, node: unknown) => {
    const offset = (node as Node).range?.[0] ?? 0;
    found.push({ rule, line: firstLine - 1 + lines.linePos(offset).line });
  };
  for (const document of parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false })) {
    if ('empty' in document) continue;
    if (document.errors.length > 0) {
      if (isTemplate) continue;
      throw new SyntaxError('it is no valid YAML');
    }
    if (!isMap(document.contents)) continue;
    const root = document.contents;
    const kind = String(root.get('kind') ?? '');
    if (typeof root.get('apiVersion') !== 'string') continue;
    if (WORKLOAD.test(kind)) checkWorkload(root, report);
    else if (ROLE.test(kind)) checkRole(root, report);
    else if (BINDING.test(kind)) checkBinding(root, report);
  }
  return found;
}

type Report = (rule: InfrastructureRule, node: unknown) => void;

function checkWorkload(root: YAMLMap, report: Report): void {
  for (const { key, value } of pairsIn(root, 0)) {
    const name = isScalar(key) ? String(key.value) : '';
    const is = (wanted: unknown) => isScalar(value) && value.value === wanted;
    switch (name) {
      case 'privileged':
      case 'allowPrivilegeEscalation':
        if (is(true)) report('kubernetes-privileged', key);
        break;
      case 'runAsUser':
        if (is(0)) report('kubernetes-root', key);
        break;
      case 'runAsNonRoot':
        if (is(false)) report('kubernetes-root', key);
        break;
      case 'hostNetwork':
      case 'hostPID':
      case 'hostIPC':
        if (is(true)) report('kubernetes-host-namespace', key);
        break;
      case 'add':
        if (isSeq(value))
          for (const one of value.items)
            if (isScalar(one) && CAPABILITY.test(String(one.value))) report('kubernetes-capability', one);
        break;
      case 'hostPath': {
        const path = isMap(value) ? value.get('path', true) : undefined;
        const reaches = (of: string) => HOST_PATH.test(of) && !PUBLIC_PATH.test(of);
        if (isScalar(path) && reaches(String(path.value))) report('kubernetes-host-path', path);
        break;
      }
      case 'image':
        if (isScalar(value) && /:latest$/.test(String(value.value))) report('kubernetes-latest-tag', value);
        break;
      default:
    }
  }
}

function checkRole(root: YAMLMap, report: Report): void {
  const rules = root.get('rules', true);
  if (!isSeq(rules)) return;
  for (const rule of rules.items) {
    if (!isMap(rule)) continue;
    const [resources, verbs] = [rule.get('resources', true), rule.get('verbs', true)];
    if (holdsAll(resources) && holdsAll(verbs) && !isOwnGroup(rule.get('apiGroups', true)))
      report('kubernetes-allows-everything', verbs);
  }
}

function holdsAll(node: unknown): boolean {
  return isSeq(node) && node.items.some((one) => isScalar(one) && one.value === '*');
}

/** Whether all groups are of one's own resources, as operators have them: none of them is a group of Kubernetes. */
function isOwnGroup(groups: unknown): boolean {
  const isOwn = (name: unknown) =>
    typeof name === 'string' && /^[\w-]+\./.test(name) && !/\.k8s\.io$/.test(name);
  return (
    isSeq(groups) && groups.items.length > 0 && groups.items.every((one) => isScalar(one) && isOwn(one.value))
  );
}

function checkBinding(root: YAMLMap, report: Report): void {
  const subjects = root.get('subjects', true);
  if (!isSeq(subjects)) return;
  for (const one of subjects.items) {
    const name = isMap(one) ? one.get('name', true) : undefined;
    if (
      isScalar(name) &&
      EVERYBODY.test(String(name.value)) &&
      root.getIn(['roleRef', 'name']) === 'cluster-admin'
    )
      report('kubernetes-allows-everything', name);
  }
}

/** Deeper maps hold no pods, and were made to exhaust the stack. */
const MAX_DEPTH = 40;

function* pairsIn(map: YAMLMap, depth: number): Generator<Pair> {
  if (depth > MAX_DEPTH) return;
  for (const pair of map.items) {
    yield pair;
    const values = isSeq(pair.value) ? pair.value.items : [pair.value];
    for (const value of values) if (isMap(value)) yield* pairsIn(value, depth + 1);
  }
}
