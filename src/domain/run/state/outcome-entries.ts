import type { Entries, Entry } from '../../expression/state-slot.ts';
import type { CiCheck, CiResult } from '../../outcome/ci-result.ts';
import { type Finding, isBlocking, SEVERITIES } from '../../outcome/finding.ts';
import type { GateVerdict } from '../../outcome/gate-verdict.ts';
import type { Outcome } from '../../outcome/outcome.ts';
import type { OwnOutcome } from '../../outcome/own-outcome.ts';
import { type AnalyzerReport, brokenOff, type ReviewVerdict } from '../../outcome/review-verdict.ts';
import type { StatedOutcome } from '../../outcome/stated.ts';

/**
 * The entries of an outcome, slot by slot, most important first. They depend on the kind of outcome and not
 * on the skill: a skill only names the slots that it fills, and needs no code for it.
 */
export function entriesOf(outcome: Outcome): Entries {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return ofReview(outcome);
    case 'ci_result':
      return ofCi(outcome);
    case 'gate_verdict':
      return ofGate(outcome);
    case 'action_result':
      return { messages: [{ text: outcome.summary }] };
    default:
      return ofStated(outcome);
  }
}

/** What a skill states is evidence for or against going on, and no decision that a later step relies on. */
function ofStated(outcome: StatedOutcome | OwnOutcome): Entries {
  const evidence = [{ text: outcome.summary, supports: outcome.passed }];
  switch (outcome.outcome_kind) {
    case 'test_result':
      return {
        evidence,
        risks: outcome.failures.map(({ name, message, file }) => ({
          text: `the test ${name} failed: ${message}`,
          severity: 'high',
          file,
          line: null,
        })),
      };
    case 'research_analysis':
      return {
        evidence: [
          ...evidence,
          ...outcome.conclusions.map(({ statement }) => ({ text: statement, supports: null })),
        ],
        uncertainties: outcome.open_questions.map((text) => ({ text })),
      };
    case 'impact_report':
      return {
        evidence,
        risks: outcome.areas.map(({ name, description, risk }) => ({
          text: `${name}: ${description}`,
          severity: risk,
          file: null,
          line: null,
        })),
        messages: outcome.recommendations.map((text) => ({ text })),
      };
    case 'flow_control_verdict':
      return { evidence, messages: [outcome.reason, ...outcome.next_steps].map((text) => ({ text })) };
    default:
      return { evidence };
  }
}

function ofReview(review: ReviewVerdict): Entries {
  const { analyzers, findings, left_out, passed, summary, verdict } = review;
  const worstFirst = findings.toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  );
  return {
    evidence: analyzers.map((analyzer) => analyzerEvidence(analyzer, review)),
    risks: worstFirst.filter(({ severity }) => severity !== 'info').map(riskOf),
    uncertainties: [
      ...brokenOff(analyzers).map((text) => ({ text })),
      ...left_out.map(({ path, reason }) => ({ text: `${path} was not reviewed: ${reason}` })),
    ],
    // A missing verdict is no decision, so that no later step takes it for one.
    decisions: verdict === null ? [] : [{ text: summary, verdict, passed }],
  };
}

/**
 * An analyzer's result as evidence for or against continuing. The first part of a finding's rule is the
 * analyzer.
 */
function analyzerEvidence(
  { name, status, files }: AnalyzerReport,
  { findings, accepted = [] }: ReviewVerdict,
): Entry<'evidence'> {
  const isOwn = ({ rule }: Finding) => rule.startsWith(`${name}/`);
  const ownFindings = findings.filter(isOwn);
  const inFiles = `in ${files} ${files === 1 ? 'file' : 'files'}`;
  if (ownFindings.length > 0) {
    const count = `${ownFindings.length} ${ownFindings.length === 1 ? 'finding' : 'findings'}`;
    return { text: `${name}: ${count} ${inFiles}`, supports: ownFindings.some(isBlocking) ? false : null };
  }
  const nothing = accepted.some(({ finding }) => isOwn(finding)) ? 'nothing else' : 'nothing';
  return status === 'ok'
    ? { text: `${name}: ${nothing} found ${inFiles}`, supports: true }
    : { text: `${name}: no result`, supports: null };
}

function riskOf({ description, severity, file, line }: Finding): Entry<'risks'> {
  return { text: description, severity, file, line: line ?? null };
}

function ofCi({ checks, passed, summary }: CiResult): Entries {
  const of = (state: CiCheck['state']) => checks.filter((check) => check.state === state);
  return {
    // The summary first: it must be enough for a reader who cannot take all checks.
    evidence: [
      { text: summary, supports: checks.length === 0 ? null : passed },
      ...checks.map(({ name, conclusion, state }) => ({
        text: `${name}: ${conclusion}`,
        supports: state === 'passed' ? true : state === 'failed' ? false : null,
      })),
    ],
    risks: of('failed').map(({ name, conclusion, required }) => ({
      text: `the check ${name} ended with ${conclusion}`,
      severity: required ? 'high' : 'medium',
      file: null,
      line: null,
    })),
    uncertainties: [
      ...(checks.length === 0 ? [{ text: summary }] : []),
      ...of('pending').map(({ name }) => ({ text: `the check ${name} is not done` })),
    ],
  };
}

function ofGate({ criteria, gate_passed, next_action, notes, summary }: GateVerdict): Entries {
  return {
    criteria: criteria.map(({ description, evidence, passed }) => ({
      text: evidence === '' ? description : `${description}: ${evidence}`,
      met: passed,
    })),
    decisions: [{ text: summary, verdict: gate_passed ? 'passed' : 'blocked', passed: gate_passed }],
    messages: [...(next_action === null ? [] : [next_action]), ...notes].map((text) => ({ text })),
  };
}
