//! How the ends of trials and publications are told to whoever asked: the same in a match and between matches (§4, §7).

use crate::live::Answer;
use playerthree_game::Name;
use playerthree_session::{
    Activated, Activation, CallError, Code, PolicyError, PolicyId, Publication, Surface, Thought, trial_stats,
};
use serde_json::json;

/// The answer to a deploy or rollback, or to the owner who approved one.
pub(crate) fn trial(
    surface: &Surface,
    role: &Name,
    activation: &Activation,
    probe: &Result<Thought, PolicyError>,
    activated: Activated,
) -> Answer {
    match (activated, &activation.approval) {
        (Activated::Active(version), None) => {
            let stats = trial_stats(surface, role, (version, activation.artifact.runtime), probe);
            Ok(json!({ "ok": true, "version": version, "probe": stats.to_json() }))
        }
        (Activated::Active(version), Some(id)) => {
            Ok(json!({ "id": id, "status": "approved", "version": version }))
        }
        (Activated::Failed(error), None) => Ok(json!({ "ok": false, "error": error.to_json() })),
        (Activated::Refused(error), None) => Err(error),
        (Activated::Asked(request), _) => Ok(request),
        (Activated::Failed(_) | Activated::Refused(_), Some(_)) => Err(Code::ApprovalFailed.into()),
    }
}

/// The answer to a publication, or to the owner who approved one.
pub(crate) fn publication(publication: &Publication, published: Result<PolicyId, CallError>) -> Answer {
    match (published, &publication.approval) {
        (Ok(policy), None) => Ok(json!({ "policyId": policy.to_string() })),
        (Ok(policy), Some(id)) => Ok(json!({
            "id": id,
            "status": "approved",
            "version": publication.version,
            "policyId": policy.to_string(),
        })),
        (Err(error), None) => Err(error),
        (Err(_), Some(_)) => Err(Code::ApprovalFailed.into()),
    }
}
