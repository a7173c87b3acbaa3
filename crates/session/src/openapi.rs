//! The coordinator's interface as an OpenAPI 3.1 document. It says what `coordinator` serves, and nothing else.

use crate::definition::Definition;
use crate::report::SessionReport;
use serde_json::{Value, json};

/// The document.
pub fn document() -> Value {
    let answer =
        |what: &str| json!({ "200": { "description": what }, "401": { "description": "no or wrong token" } });
    let id = json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "wirespeed coordinator", "version": "1" },
        "security": [{ "key": [] }],
        "paths": {
            "/coordinator/1/sessions": {
                "get": { "summary": "Sessions that run", "responses": answer("a list of id and nodes") },
                "post": {
                    "summary": "Place and start a session; the answer comes when every computation is ready",
                    "requestBody": { "required": true, "content": { "application/json": { "schema": {
                        "type": "object",
                        "required": ["definition"],
                        "properties": {
                            "definition": Definition::schema(),
                            "work": { "type": "object" },
                            "daemon": { "type": "boolean" },
                        },
                    } } } },
                    "responses": {
                        "201": { "description": "id, and name, node, address and process of every computation" },
                        "400": { "description": "the definition is invalid" },
                        "503": { "description": "no node has what is asked for; the answer names what is free" },
                    },
                },
            },
            "/coordinator/1/sessions/{id}": {
                "parameters": id.clone(),
                "get": {
                    "summary": "Nodes of a session, which lives for 6 s more: one that nobody asks for is ended",
                    "responses": answer("id and nodes"),
                },
                "delete": {
                    "summary": "End a session",
                    "responses": { "200": {
                        "description": "what was asked, granted and observed of every computation",
                        "content": { "application/json": {
                            "schema": schemars::schema_for!(SessionReport).to_value(),
                        } },
                    } },
                },
            },
            "/coordinator/1/sessions/{id}/go": {
                "parameters": id,
                "put": { "summary": "Everybody is ready: go", "responses": answer("done") },
            },
            "/coordinator/1/nodes": {
                "get": { "summary": "Nodes, and what is free there", "responses": answer("a list") },
                "post": { "summary": "A node makes itself known", "responses": answer("when to come again") },
            },
            "/coordinator/1/openapi.json": {
                "get": { "summary": "This document", "responses": answer("OpenAPI 3.1") },
            },
        },
        "components": { "securitySchemes": { "key": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "the key's token: 32 bytes in base64url without padding, as --print-identity shows it",
            "description": "proof of the key file that the daemons share; over TLS 1.3 with their certificate",
        } } },
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_path_has_an_answer() {
        let document = super::document();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 5);
        assert!(
            paths
                .values()
                .all(|path| path.as_object().is_some_and(|p| !p.is_empty()))
        );
    }
}
