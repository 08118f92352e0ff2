//! Those who watch a match: spectators rebuild a side's view, observers the whole match.

use super::Member;
use crate::load::tally::Part;
use crate::load::window::Window;
use playerthree_client::Result;
use playerthree_client::playerthree::Happening;
use std::time::Instant;

/// Follows a side's view.
pub(super) async fn watch(spectator: Member<'_>, window: Window) -> Result<()> {
    follow(spectator, window, Part::Views, |happening| matches!(happening, Happening::View(_))).await
}

/// Follows the observers' stream.
pub(super) async fn observe(mut observer: Member<'_>, window: Window) -> Result<()> {
    observer.link.observe("all").await?;
    follow(observer, window, Part::Frames, |happening| matches!(happening, Happening::Observed(_))).await
}

/// Counts how far apart what is waited for arrives.
async fn follow(
    mut member: Member<'_>,
    window: Window,
    part: Part,
    is_news: impl Fn(&Happening) -> bool,
) -> Result<()> {
    let mut last = None;
    loop {
        if !is_news(&member.next(window).await?) {
            continue;
        }
        let now = Instant::now();
        if let Some(before) = last.replace(now).filter(|before| window.contains(*before)) {
            member.context.board.shard(member.index).part(part, now.duration_since(before));
        }
    }
}
