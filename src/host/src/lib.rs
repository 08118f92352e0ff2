//! The host: live matches with their policies, the credentials that reach them, and the demo's accounts.
//!
//! This crate opens no socket. Bindings bring calls in and carry answers out.

mod accounts;
mod agents;
mod answers;
mod commanders;
mod credentials;
mod grant;
mod listeners;
mod live;
mod lobby;
mod places;
mod policies;
mod pools;
mod practice;
mod sandboxed;
mod scrubbing;
mod secret;
mod shares;
mod status;
mod ticks;
mod trial;
mod uploads;
mod workshop;

pub use accounts::{ACCOUNTS_MAX, Account, Accounts, BadName, LoginRefused, NAME_MAX};
pub use agents::{AgentCall, Agents, CredentialId, MatchDoor, Revoked, SeatGrant, TOKENS_PER_SEAT};
pub use commanders::Commanders;
pub use credentials::{Credentials, Grant, Holder, Sight, TOKENS_WAITING_MAX, Ttl};
pub use grant::CommanderGrant;
pub use listeners::SaidInLobby;
pub use live::{Answer, Asker, Live, STEP_MAX, TICKS_OWED_MAX};
pub use places::{BLAME_MAX, BLAME_WINDOW, OWNER_PLACES, POLICY_PLACES, PolicyPlaces};
pub use pools::Pools;
pub use practice::{OWNER_PRACTICES, PRACTICE_PLACES};
pub use scrubbing::{
    SCRUB_ENTRIES_MAX, SCRUB_TICKS_MAX, SCRUB_TICKS_UNCOPIED_MAX, SEEK_TIME_MAX, SIMULATIONS_MAX, Scrub,
    ScrubError, Scrubber, TIMELINES_MAX,
};
pub use secret::{Digest, Token, digest as secret_digest};
pub use status::{StatusBoard, StatusWatch};
pub use ticks::Ticks;
pub use trial::{Ended, NotPlayed, Trial, TrialResult};
pub use uploads::{UPLOAD_BYTES_MAX, UPLOADS_MAX, UploadError, UploadId, Uploads};
