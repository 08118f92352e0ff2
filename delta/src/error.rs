//! Why a delta was refused: a closed list of codes without any received content.

/// Why a delta was refused. The text of each variant is its code, the same in every implementation of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum DeltaError {
    /// The delta does not follow the grammar of the format.
    #[error("shape")]
    Shape,
    /// The delta nests deeper than [`crate::MAX_DEPTH`].
    #[error("depth")]
    Depth,
    /// The delta has more than [`crate::MAX_EDITS`] edits.
    #[error("edits")]
    Edits,
    /// The delta weighs more than [`crate::MAX_WEIGHT`].
    #[error("weight")]
    Weight,
    /// The delta is well formed but does not fit the value that it was applied to.
    #[error("mismatch")]
    Mismatch,
}
