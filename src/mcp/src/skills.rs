//! The skills extension (§4): every served skill of a game as files at `skill://<game-id>/<skill>/...`, each with its size
//! and SHA-256 digest. Made once for each game; what is read is what the digest was taken of.

use crate::surface::{STATIC_TTL_MS, Unservable};
use playerthree_session::Surface;
use rmcp::model::{
    CacheScope, GetSkillResult, ListResourceTemplatesResult, ListSkillsResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Skill, SkillResource, SkillResources,
};
use serde_json::Value;
use std::sync::Arc;

/// The skills of one game, in the order of their addresses.
pub(crate) struct Catalog {
    surface: Arc<Surface>,
    /// What every address of this game begins with.
    prefix: String,
    skills: Vec<Skill>,
    /// The entry of each `SKILL.md` among the resources.
    heads: Vec<Resource>,
}

impl Catalog {
    pub(crate) fn new(surface: &Arc<Surface>) -> Result<Self, Unservable> {
        let prefix = format!("skill://{}/", surface.manifest.id);
        let served = surface.knowledge.skills().iter();
        let mut skills =
            served.map(|skill| entry(&prefix, skill)).collect::<Option<Vec<_>>>().ok_or(Unservable)?;
        skills.sort_by(|one, other| one.uri.cmp(&other.uri));
        let heads = skills.iter().filter_map(head).collect();
        Ok(Self { surface: Arc::clone(surface), prefix, skills, heads })
    }

    /// The answer to `skills/list`: one page, complete.
    pub(crate) fn list(&self) -> ListSkillsResult {
        let mut list = ListSkillsResult::with_all_items(self.skills.clone());
        list.ttl_ms = Some(STATIC_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        list
    }

    /// The answer to `skills/get`.
    pub(crate) fn get(&self, uri: &str) -> Option<GetSkillResult> {
        let skill = self.skills.iter().find(|skill| skill.uri == uri)?.clone();
        let result = GetSkillResult::new(skill);
        Some(result.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    /// Each `SKILL.md`, for the list of resources. The other files are in their skill's entry.
    pub(crate) fn heads(&self) -> &[Resource] {
        &self.heads
    }

    /// The answer to `resources/templates/list`.
    pub(crate) fn templates(&self) -> ListResourceTemplatesResult {
        let template = ResourceTemplate::new(format!("{}{{+path}}", self.prefix), "skill-files")
            .with_title("Skill files")
            .with_description("The files that the skills list, by skill and path.");
        let mut list = ListResourceTemplatesResult::with_all_items(vec![template]);
        list.ttl_ms = Some(STATIC_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        list
    }

    /// One file, whole: its bytes have to be those of its digest. A game's check bounds it.
    pub(crate) fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let (skill, path) = uri.strip_prefix(&self.prefix)?.split_once('/')?;
        let skill = self.surface.knowledge.skills().iter().find(|served| *served.name == *skill)?;
        let text = skill.files.get(path)?;
        let file = ResourceContents::text(&**text, uri).with_mime_type(mime_type(path));
        let result = ReadResourceResult::new(vec![file]);
        Some(result.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private))
    }
}

/// A skill with all of its files. Nothing where its frontmatter cannot be said in JSON, which the game's check excludes.
fn entry(prefix: &str, skill: &playerthree_game::Skill) -> Option<Skill> {
    let address = |path: &str| format!("{prefix}{}/{path}", skill.name);
    let file =
        |(path, text): (&Arc<str>, &Arc<str>)| SkillResource::from_bytes(address(path), text.as_bytes());
    let files = skill.files.iter().map(file).collect();
    let frontmatter = serde_json::from_value(Value::Object(skill.frontmatter()?)).ok()?;
    Some(Skill::new(address("SKILL.md"), frontmatter, SkillResources::Files(files)))
}

fn head(skill: &Skill) -> Option<Resource> {
    let SkillResources::Files(files) = &skill.resources else { return None };
    let file = files.iter().find(|file| file.uri == skill.uri)?;
    let resource = Resource::new(&*skill.uri, skill.name());
    Some(
        resource
            .with_description(&*skill.frontmatter.description)
            .with_mime_type("text/markdown")
            .with_size(file.size),
    )
}

/// By the ending of a path.
fn mime_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("md") => "text/markdown",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        _ => "text/plain",
    }
}
