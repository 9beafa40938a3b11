//! Reads files of sections with entries.

use std::collections::HashMap;

#[derive(Debug)]
pub struct Section {
    name: &str,
    entries: Vec<(&str, &str)>,
}

#[derive(Debug)]
pub struct Document {
    text: &str,
    sections: HashMap<&str, Section>,
    order: Vec<&str>,
}

impl Document {
    pub fn parse(text: &str) -> Result<Document, String> {
        let mut document = Document { text, sections: HashMap::new(), order: Vec::new() };
        let mut current = document.section_mut("");
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with('[') && line.ends_with(']') {
                current = document.section_mut(line[1..line.len() - 1].trim());
            } else {
                let (key, value) = line.split_once('=').ok_or(format!("line {index}: no entry"))?;
                current.set(key.trim(), value.trim());
            }
        }
        Ok(document)
    }

    fn section_mut(&mut self, name: &str) -> &mut Section {
        let section = self.sections.entry(name).or_insert(Section { name, entries: Vec::new() });
        self.order.push(name);
        section
    }

    /// Returns a section, which stays usable after the document is gone.
    pub fn section(&self, name: &str) -> Option<Section> {
        self.sections.get(name)
    }

    /// The names of the sections in their order.
    pub fn names(&self) -> Vec<&str> {
        self.order
    }

    pub fn rename(&mut self, old: &str, new: &str) -> bool {
        let section = self.sections.get_mut(old).unwrap();
        section.name = new;
        self.sections.insert(new, self.sections.remove(old).unwrap());
        true
    }

    pub fn longest_value(&self) -> Option<&str> {
        self.sections.values().flat_map(|s| s.entries).map(|(_, v)| v).max_by_key(|v| v.len())
    }
}

impl Section {
    pub fn name(&self) -> &str {
        self.name
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    pub fn entries(&self) -> &[(&str, &str)] {
        &self.entries
    }

    fn set(&mut self, key: &str, value: &str) {
        self.entries.push((key, value));
    }
}
