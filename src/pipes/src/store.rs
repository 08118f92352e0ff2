//! One inbox's file: a capture a line, appended and synced, never changed.
//!
//! A line is acknowledged only after its sync. What a crash left behind the last whole row was never acknowledged and is
//! cut off; damage before a whole row is an error, never repaired by guess.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A capture as it is written.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RowLine<'a> {
    pub(crate) seq: u64,
    pub(crate) id: &'a str,
    pub(crate) created_at: &'a str,
    pub(crate) content_type: Option<&'a str>,
    pub(crate) matched_signing_ref: Option<&'a str>,
    pub(crate) matched_signer_label: Option<&'a str>,
    pub(crate) rejection_reason: Option<&'a str>,
    pub(crate) body: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body_encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) post_digest: Option<&'a str>,
}

/// The members of a row that recovery looks at.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RowHead {
    seq: u64,
    #[serde(default)]
    post_digest: Option<String>,
}

/// The file with the place of each of its rows.
#[derive(Debug)]
pub(crate) struct RowFile {
    file: File,
    /// Start of each row, and the end of the last one.
    offsets: std::sync::RwLock<Vec<u64>>,
    /// Set once a failed append could not be undone.
    broken: AtomicBool,
}

/// What recovery found: the file, and the seq of each post that carried an idempotency key.
pub(crate) struct Recovered {
    pub(crate) rows: RowFile,
    pub(crate) posted: Vec<(String, u64)>,
}

impl RowFile {
    /// Opens the file, making it when it does not exist, and cuts a torn tail. `line_bytes` bounds a row.
    pub(crate) fn recover(path: &Path, line_bytes: usize) -> io::Result<Recovered> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let scan = scan(&mut BufReader::with_capacity(1 << 16, &file), line_bytes)?;
        let end = scan.offsets.last().copied().unwrap_or(0);
        if file.metadata()?.len() != end {
            file.set_len(end)?;
            file.sync_all()?;
        }
        file.seek(SeekFrom::Start(end))?;
        Ok(Recovered {
            rows: Self { file, offsets: scan.offsets.into(), broken: AtomicBool::new(false) },
            posted: scan.posted,
        })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> u64 {
        self.offsets().len() as u64 - 1
    }

    /// Appends whole lines and syncs once. On an error the file is cut back to what it was, so that nothing
    /// unacknowledged stays; when even that fails the error says so by [`Appended::Broken`].
    pub(crate) fn append(&self, lines: &[Bytes]) -> Appended {
        if self.broken.load(Ordering::Acquire) {
            return Appended::Broken;
        }
        let end = self.offsets().last().copied().unwrap_or(0);
        let all: Vec<u8> = lines.concat();
        let written = (&self.file).write_all(&all).and_then(|()| self.file.sync_data());
        if written.is_err() {
            let cut = self.file.set_len(end).and_then(|()| (&self.file).seek(SeekFrom::Start(end)));
            let is_undone = cut.and_then(|_| self.file.sync_all()).is_ok();
            self.broken.store(!is_undone, Ordering::Release);
            return if is_undone { Appended::Failed } else { Appended::Broken };
        }
        let mut offsets = self.offsets.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut at = end;
        for line in lines {
            at += line.len() as u64;
            offsets.push(at);
        }
        Appended::Synced
    }

    /// The line of a row, without its line end; rows count from 1.
    pub(crate) fn read(&self, seq: u64) -> io::Result<Bytes> {
        let (start, end) = {
            let offsets = self.offsets();
            let at = usize::try_from(seq).unwrap_or(usize::MAX);
            match (at.checked_sub(1).and_then(|at| offsets.get(at)), offsets.get(at)) {
                (Some(start), Some(end)) => (*start, *end),
                _ => return Err(io::ErrorKind::NotFound.into()),
            }
        };
        let mut line = vec![0; usize::try_from(end - start - 1).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut line, start)?;
        Ok(line.into())
    }

    fn offsets(&self) -> std::sync::RwLockReadGuard<'_, Vec<u64>> {
        self.offsets.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// On disk.
    Synced,
    /// Not stored; the file is as it was.
    Failed,
    /// The file may hold rows that nobody was told of; it takes no more posts until it is recovered.
    Broken,
}

struct Scan {
    offsets: Vec<u64>,
    posted: Vec<(String, u64)>,
}

fn scan(reader: &mut impl BufRead, line_bytes: usize) -> io::Result<Scan> {
    let mut scan = Scan { offsets: vec![0], posted: Vec::new() };
    let mut torn = false;
    let mut at = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut *reader, line_bytes as u64).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(scan);
        }
        at += read;
        let head = line.strip_suffix(b"\n").and_then(|row| serde_json::from_slice::<RowHead>(row).ok());
        match head {
            Some(head) if !torn && head.seq == scan.offsets.len() as u64 => {
                scan.offsets.push(at);
                scan.posted.extend(head.post_digest.map(|digest| (digest, head.seq)));
            }
            Some(_) => return Err(io::Error::other("an inbox file is damaged")),
            None => torn = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn row(seq: u64) -> Bytes {
        format!("{{\"Seq\":{seq},\"Body\":\"b\"}}\n").into()
    }

    #[test]
    fn every_torn_tail_is_cut_and_every_whole_row_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        let whole = [row(1), row(2)].concat();
        let third = row(3);
        for cut in 0..third.len() {
            fs::write(&path, [whole.as_slice(), &third[..cut]].concat()).unwrap();
            let rows = RowFile::recover(&path, 4096).unwrap().rows;
            assert_eq!(rows.len(), 2);
            assert_eq!(rows.append(&[row(3)]), Appended::Synced);
            assert_eq!(rows.read(3).unwrap(), third[..third.len() - 1]);
            assert_eq!(fs::read(&path).unwrap(), [whole.as_slice(), &third].concat());
        }
    }

    #[test]
    fn zeroes_behind_the_last_row_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        fs::write(&path, [row(1).as_ref(), &[0; 9000], b"\n", &[0; 10]].concat()).unwrap();
        assert_eq!(RowFile::recover(&path, 4096).unwrap().rows.len(), 1);
        assert_eq!(fs::read(&path).unwrap(), row(1));
    }

    #[test]
    fn damage_before_a_whole_row_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        for bytes in [[row(1).as_ref(), b"junk\n", &row(2)].concat(), [row(1), row(3)].concat()] {
            fs::write(&path, &bytes).unwrap();
            assert!(RowFile::recover(&path, 4096).is_err());
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn a_row_that_does_not_exist_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let rows = RowFile::recover(&dir.path().join("rows"), 4096).unwrap().rows;
        rows.append(&[row(1)]);
        for seq in [0, 2, u64::MAX] {
            assert_eq!(rows.read(seq).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
