(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(class_definition body: (block (function_definition name: (identifier) @name) @method))
(class_definition body: (block (decorated_definition (function_definition name: (identifier) @name) @method)))
(module (expression_statement (assignment left: (identifier) @name) @constant)
  (#match? @name "^[A-Z][A-Z0-9_]*$"))
