// Command rewrite copies test files of Go so that they can be measured: Go's package testing is replaced by Perbyte's, and
// each loop over the N of a *testing.B gets a mark before and behind it. Lines stay where they are.
//
//	rewrite OUT=IN...     writes each IN to OUT, and prints as JSON which benchmarks each IN has
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func main() {
	found := map[string][]string{}
	for _, pair := range os.Args[1:] {
		out, in, _ := strings.Cut(pair, "=")
		text, err := os.ReadFile(in)
		if err == nil {
			var rewritten []byte
			rewritten, found[in], err = rewrite(in, text)
			if err == nil {
				err = os.WriteFile(out, rewritten, 0o644)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	json.NewEncoder(os.Stdout).Encode(found)
}

// An edit puts a text in place of what lies between two offsets.
type edit struct {
	from, to int
	text     string
}

type file struct {
	set     *token.FileSet
	testing string // what the package is called in this file; empty where it is not imported
	edits   []edit
}

func rewrite(name string, text []byte) ([]byte, []string, error) {
	f := &file{set: token.NewFileSet()}
	tree, err := parser.ParseFile(f.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	f.replaceImport(tree)
	var benchmarks []string
	for _, declared := range tree.Decls {
		function, yes := declared.(*ast.FuncDecl)
		if !yes || function.Body == nil {
			continue
		}
		if function.Recv == nil && isBenchmark(function.Name.Name) && len(f.benches(function.Type)) == 1 {
			benchmarks = append(benchmarks, function.Name.Name)
		}
		f.mark(function.Type, function.Body, nil)
	}
	return f.applied(text), benchmarks, nil
}

func isBenchmark(name string) bool {
	rest, yes := strings.CutPrefix(name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return yes && (rest == "" || !unicode.IsLower(first))
}

func (f *file) offset(at token.Pos) int { return f.set.Position(at).Offset }

func (f *file) replaceImport(tree *ast.File) {
	for _, one := range tree.Imports {
		if path, _ := strconv.Unquote(one.Path.Value); path != "testing" {
			continue
		}
		f.testing = "testing"
		text := `testing "perbyte/testing"`
		if one.Name != nil {
			f.testing, text = one.Name.Name, `"perbyte/testing"`
		}
		f.edits = append(f.edits, edit{f.offset(one.Path.Pos()), f.offset(one.Path.End()), text})
	}
}

// benches are the names of the parameters of type *testing.B.
func (f *file) benches(function *ast.FuncType) (names []string) {
	for _, field := range function.Params.List {
		pointer, yes := field.Type.(*ast.StarExpr)
		if !yes {
			continue
		}
		switch kind := pointer.X.(type) {
		case *ast.SelectorExpr:
			of, yes := kind.X.(*ast.Ident)
			yes = yes && of.Name == f.testing && kind.Sel.Name == "B"
			if !yes {
				continue
			}
		case *ast.Ident:
			if f.testing != "." || kind.Name != "B" {
				continue
			}
		default:
			continue
		}
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// mark puts marks around loops over the N of one of `known`, or of a parameter.
func (f *file) mark(function *ast.FuncType, body *ast.BlockStmt, known []string) {
	known = append(slices.Clone(known), f.benches(function)...)
	grows := usedOnce(body, known)
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			f.mark(node.Type, node.Body, known)
			return false
		case *ast.LabeledStmt:
			return f.markLoop(node, node.Stmt, known, grows)
		case *ast.ForStmt, *ast.RangeStmt:
			return f.markLoop(node, node.(ast.Stmt), known, grows)
		}
		return true
	})
}

// markLoop puts marks around `whole`, a loop with its label if it has one. It returns whether to look for loops within.
func (f *file) markLoop(whole ast.Node, loop ast.Stmt, known []string, grows map[string]bool) bool {
	whose := over(loop, known)
	if whose == "" {
		return true
	}
	before, behind := f.offset(whole.Pos()), f.offset(whole.End())
	f.edits = append(f.edits, edit{before, before, whose + ".LoopBegins(); "}, edit{behind, behind, "; " + whose + ".LoopEnds()"})
	if grows[whose] {
		f.letGrow(loop, whose)
	}
	ast.Inspect(loop, func(node ast.Node) bool { // loops within it are part of its turns
		if function, yes := node.(*ast.FuncLit); yes {
			f.mark(function.Type, function.Body, known)
			return false
		}
		return true
	})
	return false
}

// letGrow lets a loop go on when N has been reached: `for i := 0; i < b.N; i++` and `for i := range b.N`.
func (f *file) letGrow(loop ast.Stmt, whose string) {
	again := " || " + whose + ".Again()"
	switch loop := loop.(type) {
	case *ast.ForStmt:
		at := f.offset(loop.Cond.End())
		f.edits = append(f.edits, edit{at, at, again})
	case *ast.RangeStmt:
		name := "perbyteTurn"
		if key, yes := loop.Key.(*ast.Ident); yes && key.Name != "_" {
			name = key.Name
		}
		head := fmt.Sprintf("for %s := 0; %[1]s < %s.N%s; %[1]s++ ", name, whose, again)
		f.edits = append(f.edits, edit{f.offset(loop.For), f.offset(loop.Body.Lbrace), head})
	}
}

// isN is whose N an expression is; empty where it is none.
func isN(at ast.Node, known []string) string {
	if field, yes := at.(*ast.SelectorExpr); yes && field.Sel.Name == "N" {
		if of, yes := field.X.(*ast.Ident); yes && slices.Contains(known, of.Name) {
			return of.Name
		}
	}
	return ""
}

// bound is what a loop goes up to: of `i < b.N` and `range b.N` the N itself, if it can grow.
func bound(loop ast.Stmt) (all ast.Expr, end ast.Expr) {
	switch loop := loop.(type) {
	case *ast.ForStmt:
		if compared, yes := loop.Cond.(*ast.BinaryExpr); yes && compared.Op == token.LSS {
			if _, yes := compared.X.(*ast.Ident); yes {
				return loop.Cond, compared.Y
			}
		}
		return loop.Cond, nil
	case *ast.RangeStmt:
		if loop.Tok != token.ASSIGN {
			return loop.X, loop.X
		}
		return loop.X, nil
	}
	return nil, nil
}

// usedOnce tells whose N is used at the end of loops that can grow, and nowhere else before the last of them is over.
func usedOnce(body *ast.BlockStmt, known []string) map[string]bool {
	atEnd, last := map[token.Pos]bool{}, map[string]token.Pos{}
	ast.Inspect(body, func(node ast.Node) bool {
		if loop, yes := node.(ast.Stmt); yes {
			if _, end := bound(loop); end != nil {
				if whose := isN(end, known); whose != "" {
					atEnd[end.Pos()] = true
					last[whose] = max(last[whose], loop.End())
				}
			}
		}
		return true
	})
	grows := map[string]bool{}
	for whose := range last {
		grows[whose] = true
	}
	ast.Inspect(body, func(node ast.Node) bool {
		if whose := isN(node, known); whose != "" && !atEnd[node.Pos()] && node.Pos() < last[whose] {
			grows[whose] = false
		}
		return true
	})
	return grows
}

// over is whose N a loop goes over; empty where it goes over none.
func over(loop ast.Stmt, known []string) (whose string) {
	if all, _ := bound(loop); all != nil {
		ast.Inspect(all, func(node ast.Node) bool {
			if found := isN(node, known); found != "" {
				whose = found
			}
			return true
		})
	}
	return whose
}

func (f *file) applied(text []byte) []byte {
	slices.SortStableFunc(f.edits, func(one, other edit) int { return cmp.Compare(one.from, other.from) })
	var made []byte
	at := 0
	for _, one := range f.edits {
		made = append(append(made, text[at:one.from]...), one.text...)
		at = one.to
	}
	return append(made, text[at:]...)
}
