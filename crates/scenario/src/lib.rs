//! Scenario files.
#![forbid(unsafe_code)]

pub mod error;
pub mod import;
pub mod load;
pub mod plan;
pub mod schema;

pub use error::{Diagnostic, Diagnostics, Severity};
pub use import::{Files, Imported, ImportedInterface, Importer, NoImporter};
pub use load::{Loaded, Options, load};

/// The JSON Schema of scenario files.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(schema::Scenario).to_value();
    if let Some(top) = schema.as_object_mut() {
        top.insert(
            "$id".to_owned(),
            "urn:spillgate:schema:scenario:1".into(),
        );
        top.insert("title".to_owned(), "Spillgate scenario".into());
    }
    schema
}
