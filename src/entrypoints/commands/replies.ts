import { nearest } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import type { OrderedVerb } from '../../domain/command/order.ts';
import type { Saying } from '../../domain/policy/approval.ts';
import type { RepositoryRole } from '../../domain/policy/role.ts';
import { newerCommandGiven } from '../../messages/comments/not-begun.ts';
import { code, inline } from '../../messages/text/markdown.ts';
import { capital, clip, plural } from '../../messages/text/pretty.ts';
import { PERMISSIONS, type Verb } from './command.ts';
import { whoMay } from './help.ts';

/** A finding by its name and place. */
interface DescribedFinding {
  id: string;
  place: string;
}

/** The result of a command, as facts. `replyText` turns it into text. */
export type CommandResult =
  | { kind: 'not_allowed'; verb: Verb; role: RepositoryRole }
  | { kind: 'closed' }
  /** Somebody pushed after the command was written, so it was not meant for the current head. */
  | { kind: 'head_moved'; from: string; to: string }
  | { kind: 'no_run' }
  /** There are runs, but only of chains that exclude drafts. */
  | { kind: 'draft' }
  | { kind: 'nothing_to_rerun' }
  | { kind: 'nothing_to_cancel' }
  | { kind: 'no_such_step'; step: string; steps: readonly string[] }
  | { kind: 'no_such_chain'; chain: string; chains: readonly string[] }
  /** A merge takes a reaction, not a command or a button. */
  | { kind: 'merge_by_reaction' }
  /** No step waits for an answer, or the given step does not. */
  | { kind: 'nothing_to_answer'; step?: string | undefined }
  | { kind: 'several_wait'; steps: readonly string[] }
  /** The approval comment is newer than the command, so the command was not an answer to it. */
  | { kind: 'asked_later'; step: string }
  | { kind: 'may_not_answer'; step: string; login: string; because: string }
  | { kind: 'answer_noted'; says: Saying; step: string; head: string }
  | { kind: 'no_review'; head: string }
  | { kind: 'no_such_finding'; given: string; findings: readonly DescribedFinding[] }
  /** The beginning of more than one finding's hash. */
  | { kind: 'several_findings'; given: string; findings: readonly DescribedFinding[] }
  | { kind: 'may_not_accept'; verb: 'accept' | 'withdraw'; id: string; login: string; because: string }
  | { kind: 'accepted_already'; id: string }
  /** `left`: the findings of its reviews that nobody has accepted. */
  | { kind: 'finding_accepted'; id: string; head: string; left: readonly DescribedFinding[] }
  | { kind: 'not_accepted'; id: string }
  | { kind: 'finding_withdrawn'; id: string; head: string }
  /** `rules`: those of which somebody has accepted something. */
  | { kind: 'nothing_learned'; rule: string; rules: readonly string[] }
  /** `on`: on how many pull requests it was accepted. */
  | { kind: 'rule_forgotten'; rule: string; on: number }
  /** Somebody gave a newer command, which takes precedence. */
  | { kind: 'overtaken'; verb: OrderedVerb; actor: string }
  | { kind: 'already_paused'; by: string }
  | { kind: 'not_paused' }
  | { kind: 'rerun_started'; steps: readonly string[] }
  | { kind: 'review_started'; head: string }
  | { kind: 'file_review_started'; path: string; head: string }
  /** `paths`: the files that the pull request changes and does not delete. */
  | { kind: 'no_such_file'; path: string; paths: readonly string[] }
  /** No review of the head has ended, of which the rest could be kept. */
  | { kind: 'no_rest'; head: string }
  | { kind: 'ci_read_again' }
  | { kind: 'cancelled'; runs: number }
  | { kind: 'paused' }
  | { kind: 'resumed' }
  | { kind: 'fired'; chain: string }
  /** The run was cancelled, and its chain does not apply to the current pull request. */
  | { kind: 'not_begun'; chain: string; because: string }
  | { kind: 'broken_chain'; chain: string; diagnostic: string }
  | { kind: 'merges_no_draft'; chain: string }
  | { kind: 'chain_held'; because: string }
  | { kind: 'rollout_off'; because: string }
  | { kind: 'bad_inputs'; chain: string; problem: string }
  | { kind: 'skill_not_used'; skill: string }
  | { kind: 'step_not_begun'; step: string }
  /** The hourly limit on replies for somebody without write access is reached. */
  | { kind: 'too_often'; most: number }
  /** Only one question of a comment is answered. */
  | { kind: 'asked_already' };

/** The reply to a command: one sentence of Markdown. Names from the facts are escaped. */
export function replyText(result: CommandResult): string {
  switch (result.kind) {
    case 'not_allowed':
      return `${code(`/countersign ${result.verb}`)} is for ${whoMay(PERMISSIONS[result.verb])}; you have ${result.role === 'none' ? 'no' : result.role} access.`;
    case 'closed':
      return 'The pull request is closed, so there is nothing to do.';
    case 'head_moved':
      return `The head moved from ${short(result.from)} to ${short(result.to)} since you wrote this, so nothing was done; send it again if you mean the new head.`;
    case 'no_run':
      return 'No chain has run for this pull request yet, so there is nothing to do; `/countersign why` says why.';
    case 'draft':
      return 'The pull request is a draft, and the chain of that step is not for drafts; mark it as ready for review, and it runs by itself.';
    case 'nothing_to_rerun':
      return 'No step has failed, so there is nothing to run again; name a step to run it all the same.';
    case 'nothing_to_cancel':
      return 'Nothing is running for this pull request, so there is nothing to cancel.';
    case 'no_such_step':
      return `There is no step ${code(result.step)}; ${choice('steps', result.step, result.steps)}`;
    case 'no_such_chain':
      return `There is no chain ${code(result.chain)} that can be fired; ${choice('chains', result.chain, result.chains)}`;
    case 'merge_by_reaction':
      return 'A merge is never approved or rejected by a command or a button: react to its approval comment.';
    case 'nothing_to_answer':
      return `${result.step === undefined ? 'No step waits' : `The step ${code(result.step)} does not wait`} for an answer, so nothing was done.`;
    case 'several_wait':
      return `Several steps wait for an answer (${shown(result.steps)}): name one, or react to the approval comment of the one you mean.`;
    case 'asked_later':
      return `The step ${code(result.step)} asked after you wrote this, so nothing was done; send it again if you mean what it asks.`;
    case 'may_not_answer':
      return `${person(result.login)} ${result.because}, and so may not answer for ${code(result.step)}.`;
    case 'answer_noted':
      return result.says === 'approve'
        ? `Noted: you approve ${code(result.step)} for ${short(result.head)}. It goes on once nothing else holds it up; nothing is merged by it.`
        : `Noted: you reject ${code(result.step)} for ${short(result.head)}, so it does not go on.`;
    case 'no_review':
      return `There is no finished review of ${short(result.head)} yet, so it has no finding that could be accepted.`;
    case 'no_such_finding':
      return result.findings.length === 0
        ? `The review has no finding ${code(result.given)}, nor any other.`
        : `The review has no finding ${code(result.given)}; its findings are ${findings(result.findings)}.`;
    case 'several_findings':
      return `Several findings begin with ${code(result.given)}: ${findings(result.findings)}. Name one of them.`;
    case 'may_not_accept':
      return `${person(result.login)} ${result.because}, and so may not ${result.verb === 'accept' ? 'accept' : 'withdraw the acceptance of'} ${code(result.id)}.`;
    case 'accepted_already':
      return `You have accepted ${code(result.id)} for this commit already.`;
    case 'finding_accepted':
      return `Accepted ${code(result.id)} for ${short(result.head)}, and judged the review again${result.left.length === 0 ? '' : `; what is left: ${findings(result.left)}`}. A new commit is reviewed again, and the finding must be accepted again then.`;
    case 'not_accepted':
      return `Nobody has accepted ${code(result.id)} for this commit, so there is nothing to withdraw.`;
    case 'finding_withdrawn':
      return `${code(result.id)} is not accepted for ${short(result.head)} any more, and the review is judged again.`;
    case 'nothing_learned':
      return `Nothing is learned about the rule ${code(result.rule)}; ${choice('rules', result.rule, result.rules)}`;
    case 'rule_forgotten':
      return `Forgot that ${code(result.rule)} was accepted on ${plural(result.on, 'pull request')}: its findings are shown again, in this repository, until people accept it as often once again.`;
    case 'overtaken':
      return `Nothing was done, because ${newerCommandGiven(result)}.`;
    case 'already_paused':
      return `${person(result.by)} has paused this pull request already.`;
    case 'not_paused':
      return 'This pull request is not paused.';
    case 'rerun_started':
      return `Running again: ${result.steps.map((step) => code(step)).join(', ')}.`;
    case 'review_started':
      return `Reviewing ${short(result.head)} again.`;
    case 'file_review_started':
      return `Reviewing ${code(result.path)} again in ${short(result.head)}; what was found in other files stays.`;
    case 'no_such_file':
      return `The pull request adds or changes no file ${code(clip(result.path, 200))}; ${choice(
        'files',
        clip(result.path, 200),
        result.paths.map((path) => clip(path, 200)),
      )}`;
    case 'no_rest':
      return `There is no finished review of ${short(result.head)} to keep the rest of; ${code('/countersign review')} reviews all files.`;
    case 'ci_read_again':
      return 'Reading the state of CI again.';
    case 'cancelled':
      return result.runs === 1 ? 'Cancelled one run.' : `Cancelled ${result.runs} runs.`;
    case 'paused':
      return `Paused: nothing is merged until ${code('/countersign resume')}.`;
    case 'resumed':
      return 'Going on.';
    case 'fired':
      return `Fired ${code(result.chain)}.`;
    case 'broken_chain':
      return `${code(result.chain)} cannot be fired because of ${inline(result.diagnostic, 400)}.`;
    case 'merges_no_draft':
      return `The pull request is a draft, and ${code(result.chain)} merges; mark it as ready for review first.`;
    case 'chain_held':
    case 'rollout_off':
      return `${inline(capital(result.because), 300)}.`;
    case 'bad_inputs':
      return `${code(result.chain)} is not fired: ${inline(result.problem)}.`;
    case 'skill_not_used':
      return `No step of the chains that have run here uses the skill ${code(result.skill)}, so there is nothing to run again.`;
    case 'step_not_begun':
      return `The step ${code(result.step)} has not begun yet; it runs by itself when its turn comes.`;
    case 'not_begun':
      return `${code(result.chain)} is not begun again: ${inline(result.because, 300)}.`;
    case 'too_often':
      return `People without write access are answered ${result.most} times an hour on a pull request, so please wait a while; the status comment says where this one stands.`;
    case 'asked_already':
      return 'One question of a comment is answered; ask the others in comments of their own.';
    default:
      return unreachable(result);
  }
}

/** Whether the command was executed, which decides between 🎉 and 😕. */
export function isDone(result: CommandResult): boolean {
  switch (result.kind) {
    case 'answer_noted':
    case 'finding_accepted':
    case 'finding_withdrawn':
    case 'rule_forgotten':
    case 'rerun_started':
    case 'review_started':
    case 'file_review_started':
    case 'ci_read_again':
    case 'cancelled':
    case 'paused':
    case 'resumed':
    case 'fired':
      return true;
    case 'not_allowed':
    case 'closed':
    case 'head_moved':
    case 'no_run':
    case 'draft':
    case 'nothing_to_rerun':
    case 'nothing_to_cancel':
    case 'no_such_step':
    case 'no_such_file':
    case 'no_rest':
    case 'no_such_chain':
    case 'merge_by_reaction':
    case 'nothing_to_answer':
    case 'several_wait':
    case 'asked_later':
    case 'may_not_answer':
    case 'no_review':
    case 'no_such_finding':
    case 'several_findings':
    case 'may_not_accept':
    case 'accepted_already':
    case 'not_accepted':
    case 'nothing_learned':
    case 'overtaken':
    case 'already_paused':
    case 'not_paused':
    case 'broken_chain':
    case 'merges_no_draft':
    case 'chain_held':
    case 'rollout_off':
    case 'bad_inputs':
    case 'skill_not_used':
    case 'step_not_begun':
    case 'not_begun':
    case 'asked_already':
    case 'too_often':
      return false;
    default:
      return unreachable(result);
  }
}

const MAX_CHOICES = 10;

/** The end of a sentence about an unknown name. */
function choice(
  what: 'steps' | 'chains' | 'rules' | 'files',
  given: string,
  there: readonly string[],
): string {
  if (there.length === 0) return `there are no ${what}.`;
  const meant = nearest(given, there);
  if (meant) return `did you mean ${code(meant)}?`;
  return `the ${what} are ${shown(there)}.`;
}

function shown(names: readonly string[]): string {
  const some = names.slice(0, MAX_CHOICES).map((name) => code(name));
  return `${some.join(', ')}${names.length > MAX_CHOICES ? ', …' : ''}`;
}

function findings(list: readonly DescribedFinding[]): string {
  const some = list.slice(0, MAX_CHOICES).map(({ id, place }) => `${code(id)} (${code(clip(place, 100))})`);
  return `${some.join(', ')}${list.length > MAX_CHOICES ? ', …' : ''}`;
}

const short = (sha: string) => code(sha.slice(0, 7));
const person = (login: string) => inline(login, 40);
